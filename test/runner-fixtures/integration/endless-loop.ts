it('passes', () => {});
it('never yields', function () {
  this.timeout(0);
  for (;;);
});
