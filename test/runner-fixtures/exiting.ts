it('passes', () => {});
it('ends the process', () => process.exit(0));
