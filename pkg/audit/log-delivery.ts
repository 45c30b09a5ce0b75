import type { Writable } from 'node:stream';
import type { Delivery } from './delivery.ts';
import type { EncodedEvent } from './encoding.ts';
import type { RotatingFile } from './rotating-file.ts';

const lines = (events: readonly EncodedEvent[]): string => events.map(({ json }) => `${json}\n`).join('');

/** One event a line into a file. */
export const fileDelivery = (file: RotatingFile): Delivery => ({
  name: 'log',
  open: () => file.open(),
  deliver: (events) => file.append(lines(events)),
  close: () => file.close(),
});

/** One event a line into a stream that is somebody else's, as the standard output. */
export const streamDelivery = (stream: Writable): Delivery => ({
  name: 'log',
  open: () => Promise.resolve(),
  deliver: (events) =>
    new Promise((resolve, reject) => {
      stream.write(lines(events), (error) => (error ? reject(error) : resolve()));
    }),
  close: () => Promise.resolve(),
});
