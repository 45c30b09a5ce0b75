import { createServer } from 'node:net';

it('leaves a server behind', (done) => {
  createServer().listen(0, '127.0.0.1', done);
});
