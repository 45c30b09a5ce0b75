describe('passing', () => {
  it('one', () => console.log('0 passed, 9 failed'));
  it('two', () => console.log('passing, the second line'));
});
