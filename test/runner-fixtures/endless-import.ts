await new Promise(() => {});

export {};
