it('runs', () => {});
it.skip('is skipped', () => {});
