it('forgets a promise', async () => {
  void Promise.reject(new Error('nobody waits for me'));
  await new Promise((resolve) => setImmediate(resolve));
});
