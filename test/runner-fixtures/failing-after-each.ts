describe('afterEach', () => {
  afterEach(() => {
    throw new Error('cannot clean up');
  });
  it('passes', () => {});
  it('is hidden', () => {});
});
