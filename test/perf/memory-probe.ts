// Loaded into the measured server by `--import` with `--expose-gc`, so that the product needs no hook for it: at SIGUSR2
// the garbage is collected, and what is left goes to the file that the URL's query names.
import { renameSync, writeFileSync } from 'node:fs';

const file = new URL(import.meta.url).searchParams.get('file')!;

const collect = globalThis.gc!;

process.on('SIGUSR2', () => {
  collect();
  // Buffers are freed after the objects that held them.
  setImmediate(() => {
    collect();
    writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
    renameSync(`${file}.new`, file);
  });
});
