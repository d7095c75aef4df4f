import { createServer, type Server as HttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';

export interface Upstream extends AsyncDisposable {
  readonly url: string;
  /** Connections open at the moment. */
  connections(): number;
}

async function listening(server: Server | HttpServer): Promise<Upstream> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An upstream below HTTP: what it does with a connection once bytes arrive. */
export async function socketUpstream(onRequest: (socket: Socket, request: string) => void): Promise<Upstream> {
  return listening(createSocketServer((socket) => socket.on('data', (bytes) => onRequest(socket, bytes.toString('latin1')))));
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RecordingUpstream extends Upstream {
  readonly seen: readonly SeenRequest[];
}

/** An HTTP upstream that keeps what it was asked. */
export async function recordingUpstream(answer: (request: SeenRequest, response: ServerResponse) => void): Promise<RecordingUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const found = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(found);
      answer(found, response);
    });
  });
  return { ...(await listening(server)), seen };
}

/** Where nobody listens: a port of which the system gives none to those who ask for any. */
export const CLOSED_PORT_URL = 'http://127.0.0.1:9';
