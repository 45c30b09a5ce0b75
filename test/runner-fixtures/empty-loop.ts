it('waits for nothing', async function () {
  this.timeout(0);
  await new Promise(() => {});
});
