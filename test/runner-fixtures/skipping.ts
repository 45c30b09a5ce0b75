describe('skipping', () => {
  it('runs', () => {});
  it.skip('is skipped', () => {});
  it('has no body');
});
