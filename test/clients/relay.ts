import { once } from 'node:events';
import net from 'node:net';

/** Passes TCP connections on to a port of this machine, until they are cut. */
export class Relay {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  /** Connections that were passed on. */
  accepted = 0;

  static async to(port: number): Promise<Relay> {
    const relay = new Relay(port);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  private constructor(port: number) {
    this.#server = net.createServer((near) => {
      this.accepted += 1;
      const far = net.connect(port, '127.0.0.1');
      for (const [socket, other] of [[near, far], [far, near]] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined); // the end of both says enough
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Ends what is open, as a network that fails does; new connections are passed on. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }
}
