describe('outer', () => {
  before(() => {
    throw new Error('no control plane');
  });
  it('hidden one', () => {});
  it('hidden two', () => {});
});
