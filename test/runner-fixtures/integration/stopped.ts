it('is stopped with its watchdog', async function () {
  this.timeout(0);
  process.kill(process.pid, 'SIGSTOP');
  await new Promise(() => {});
});
