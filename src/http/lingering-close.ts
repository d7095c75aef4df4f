import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What a client that is still sending gets to see that it was answered. */
export const LINGER_MS = 5_000;
/** The rest of a body that is no longer than this is waited for, and fits into Node's buffer: a connection made anew costs more. */
const SMALL_BYTES = 32 * 1024;

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Where the client waits for `100 Continue`, nobody knows whether its body comes at all. */
function isWorthWaitingFor({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= SMALL_BYTES && headers.expect === undefined;
}

/**
 * Ends our half of the connection, and lets what still comes be read and thrown away until the client has closed its half, for a few
 * seconds at most: to close a connection that has unread bytes resets it, and the client may lose the answer by that (RFC 9112, 9.6).
 */
function closeAfterRest(socket: Socket, request: IncomingMessage): void {
  socket.end();
  // Whoever was reading has given up, and would hold the bytes back.
  request.removeAllListeners('readable').removeAllListeners('data');
  request.on('data', () => undefined);
  closeAtLast(socket);
}

/** Closes a connection whose client does not, after some seconds. */
export function closeAtLast(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** The answer that each connection is in the middle of. */
const underWay = new WeakMap<Duplex, ServerResponse>();

/** The answer that has begun on a connection and is not out yet; undefined: none. */
export function answerUnderWay(socket: Duplex): ServerResponse | undefined {
  const answer = underWay.get(socket);
  return answer?.writableFinished === false ? answer : undefined;
}

/**
 * A response that may begin before the body of its request has come whole: the rest, which nobody else reads, would otherwise be in the way
 * of the next request. The connection is kept where the body is short, and else closed.
 */
export class LingeringResponse extends ServerResponse {
  override writeHead(...head: readonly unknown[]): this {
    const { req: request, socket } = this;
    if (socket !== null) underWay.set(socket, this);
    // Of a request without a body Node may not know yet that it is complete.
    if (!this.headersSent && socket !== null && !request.complete && hasBody(request)) {
      if (!isWorthWaitingFor(request)) this.shouldKeepAlive = false;
      // Node calls this when a response is out that is the last of its connection.
      socket.destroySoon = () => (request.complete ? Socket.prototype.destroySoon.call(socket) : closeAfterRest(socket, request));
    }
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>));
  }
}
