it.only('would hide all other tests', () => {});
