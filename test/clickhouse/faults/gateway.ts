import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A whole answer. */
interface GatewayAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What a gateway does with a request. */
export interface Conduct {
  /** Asks this database instead of the one that the request names. */
  readonly database?: string;
  /** Answers by itself, with status 200. */
  readonly answers?: (query: URLSearchParams) => { readonly headers?: Readonly<Record<string, string>>; readonly body: string };
  /** Changes the answer of ClickHouse, which has status 200. */
  readonly changes?: (answer: GatewayAnswer) => GatewayAnswer;
}

/** Passes every request and answer on as it is. */
export const HONEST: Conduct = {};

/** An HTTP server at an address of its own, before a real ClickHouse. */
export class Gateway {
  /** How it treats requests from now on. */
  conduct = HONEST;
  readonly #target: URL;
  readonly #server: Server;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((incoming, response) => {
      this.#answer(incoming).then(
        ({ status, headers, body }) => response.writeHead(status, { ...headers, 'content-length': body.length }).end(body),
        () => response.destroy(),
      );
    });
  }

  /** Starts one, which ends with the test. */
  static async before(target: string): Promise<Gateway> {
    const gateway = new Gateway(target);
    await gateway.comeBack(0);
    onTestFinished(() => gateway.goAway());
    return gateway;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens at a port. */
  async comeBack(port: number): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  /** Cuts all connections and refuses further ones. */
  async goAway(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(incoming: IncomingMessage): Promise<GatewayAnswer & { readonly status: number }> {
    const { database, answers, changes = (answer) => answer } = this.conduct;
    const url = new URL(incoming.url ?? '/', this.#target);
    const sent = await buffer(incoming);
    const own = answers?.(url.searchParams);
    if (own !== undefined) {
      return { status: 200, headers: own.headers ?? {}, body: Buffer.from(own.body) };
    }
    if (database !== undefined) {
      url.searchParams.set('database', database);
    }
    const { status, ...answer } = await this.#pass(incoming, url, sent);
    return { status, ...(status === 200 ? changes(answer) : answer) };
  }

  async #pass({ method = 'POST', headers }: IncomingMessage, url: URL, sent: Buffer): Promise<GatewayAnswer & { readonly status: number }> {
    const { host: _, 'transfer-encoding': __, ...passed } = headers;
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers: { ...passed, 'content-length': sent.length } };
      request(url, options, resolve).on('error', reject).end(sent);
    });
    const answer = await answered;
    const { 'transfer-encoding': ___, connection: ____, 'keep-alive': _____, ...rest } = answer.headers;
    return { status: answer.statusCode ?? 500, headers: rest, body: await buffer(answer) };
  }
}
