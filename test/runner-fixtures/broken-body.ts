describe('registered, then dropped with its file', () => {
  it('does not run', () => {});
});
throw new Error('in the body of a file');
