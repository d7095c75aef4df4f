import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TestCertificate } from './test-certificate.ts';

/**
 * `read`: to its end, then close. `reset`: cut the connection once some bytes have come. `close`: end it early and politely. `hold`: never
 * close. `talk`: neither, and send something all the time.
 */
export type SyslogManner = 'read' | 'reset' | 'close' | 'hold' | 'talk';

export interface SyslogListener {
  readonly port: number;
  /** Whole messages of connections that were read to their end, in the order of arrival. */
  readonly messages: readonly string[];
  /** How often somebody connected. */
  connections(): number;
  stop(): Promise<void>;
}

/** Takes octet-counted messages (RFC 6587) apart. Throws where the text is not made of whole ones. */
function parseOctetCounted(bytes: Buffer): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at);
    const digits = bytes.toString('latin1', at, blank);
    if (blank < 0 || !/^[1-9]\d*$/.test(digits)) throw new Error(`no count at byte ${at}`);
    const end = blank + 1 + Number(digits);
    if (end > bytes.length) throw new Error(`the message at byte ${at} is cut off`);
    messages.push(bytes.toString('utf8', blank + 1, end));
    at = end;
  }
  return messages;
}

/** A TCP syslog receiver (TLS with a certificate) on loopback. `manner` decides for each connection, counted from 1. */
export async function syslogListener(
  manner: (connection: number) => SyslogManner,
  { certificate, port = 0 }: { readonly certificate?: TestCertificate; readonly port?: number } = {},
): Promise<SyslogListener> {
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket): void => {
    connections += 1;
    const how = manner(connections);
    const chunks: Buffer[] = [];
    // A client may break off its connection.
    socket.on('error', () => {});
    if (how === 'talk') {
      const talking = setInterval(() => socket.write('.'), 5);
      socket.once('close', () => clearInterval(talking));
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      // TLS knows no reset of its own; with bytes unread, destroying is one.
      if (how === 'reset') void (certificate === undefined ? socket.resetAndDestroy() : socket.destroy());
      if (how === 'close') socket.end();
    });
    socket.on('end', () => {
      if (how === 'hold' || how === 'talk' || how === 'close') return;
      messages.push(...parseOctetCounted(Buffer.concat(chunks)));
      socket.end();
    });
  };
  const options = { allowHalfOpen: true };
  const server =
    certificate === undefined
      ? createServer(options, onConnection)
      : createTlsServer({ ...options, key: certificate.key, cert: certificate.cert }, onConnection);
  // Below TLS, and also those that never get as far as that.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    connections: () => connections,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
