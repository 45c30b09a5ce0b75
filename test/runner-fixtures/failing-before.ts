describe('outer', () => {
  before(() => {
    throw new Error('no control plane');
  });
  it('hidden one', () => {});
  describe('inner', () => {
    it('hidden two', () => {});
  });
});
describe('another', () => {
  it('runs', () => {});
});
