describe('passing', () => {
  it('one', () => {});
  it('two', () => {});
});
