import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Stands before the port of a server on which it speaks its native protocol. Whichever side breaks off, and however, the other one is told
 * by the orderly end of its connection: a server of the tests ends where a connection that it has opened is reset.
 */
export class NativeRelay {
  readonly #target: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #listening: Server | undefined;
  #port = 0;

  private constructor(target: number) {
    this.#target = target;
  }

  /** Listens on a free port of 127.0.0.1, and connects those who come with the port `target`. */
  static async open(target: number): Promise<NativeRelay> {
    const relay = new NativeRelay(target);
    await relay.comeBack();
    return relay;
  }

  get port(): number {
    return this.#port;
  }

  /**
   * Refuses connections, and ends those that there are. Whoever does not look at one that is idle finds its end with the next
   * statement.
   */
  goAway(): void {
    this.#listening?.close();
    this.#listening = undefined;
    for (const [client, target] of this.#pairs) {
      // What is still under way is read, and leads nowhere: a connection that ends with bytes unread is reset.
      client.unpipe(target);
      target.unpipe(client);
      for (const socket of [client, target]) socket.resume().end();
    }
  }

  /** Listens again, on the port that it had. */
  async comeBack(): Promise<void> {
    if (this.#listening !== undefined) return;
    const server = createServer({ allowHalfOpen: true }, (client) => this.#connect(client));
    await once(server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#listening = server;
  }

  #connect(client: Socket): void {
    const target = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true });
    const pair = [client, target] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [target, client] as const]) {
      from.pipe(to);
      from.on('error', () => to.end());
      from.on('close', () => {
        to.resume().end();
        this.#pairs.delete(pair);
      });
    }
  }
}
