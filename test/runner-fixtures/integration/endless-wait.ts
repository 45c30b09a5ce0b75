it('waits for ever', async function () {
  this.timeout(0);
  await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
});
