import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

it('waits for a child', async function () {
  this.timeout(0);
  const child = spawn('sleep', ['600']);
  writeFileSync(process.env['PIDS_FILE']!, `${process.pid} ${child.pid}`);
  await new Promise((resolve) => child.once('close', resolve));
});
it('has no turn', () => {});
