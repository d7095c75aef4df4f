import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerUnderWay, closeAtLast } from './lingering-close.ts';
import { type ErrorKey, PROBLEM_CONTENT_TYPE, problemBody, RequestProblem } from './problem.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Answers with ProblemDetails where there is no response object, and closes the connection. */
function answerOnSocket(socket: Duplex, statusLine: string, problem: RequestProblem): void {
  const body = problemBody(problem, null);
  const headers = {
    ...problem.headers,
    ...SECURITY_HEADERS,
    Connection: 'close',
    'Content-Type': PROBLEM_CONTENT_TYPE,
    'Content-Length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${statusLine}\r\n${lines.join('')}\r\n${body}`);
  closeAtLast(socket);
}

const SOCKET_PROBLEMS: Readonly<Record<string, readonly [string, ErrorKey, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request.timeout', 'The request did not arrive whole in time'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'header.too_large', 'The request line and headers are larger than 16 KiB'],
};

/** Answers bytes that are no HTTP request, before there is a request to speak of. */
export function answerBrokenConnection(error: Error & { readonly code?: string }, socket: Duplex): void {
  // Answered already, and what follows is no better: the client is to have the time to read the answer.
  if (socket.writableEnded && error.code?.startsWith('HPE_')) return;
  const answer = answerUnderWay(socket);
  // In the middle of an answer another would be taken for a part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.writableEnded === false) {
    socket.destroy();
    return;
  }
  if (answer !== undefined) {
    socket.end();
    closeAtLast(socket);
    return;
  }
  const [statusLine, key, detail] = SOCKET_PROBLEMS[error.code ?? ''] ?? [
    '400 Bad Request',
    'request.malformed',
    'The bytes received are not an HTTP request',
  ];
  answerOnSocket(socket, statusLine, new RequestProblem(key, detail));
}

/** Answers CONNECT, which Node takes for no request: it would close the connection without a word. */
export function refuseTunnel(request: IncomingMessage, socket: Duplex): void {
  // Node has let go of the socket: without a listener a client that goes away now would end the program. There is nobody left to tell.
  socket.on('error', () => socket.destroy());
  const detail = `There are no tunnels here, to ${request.url} or elsewhere: CONNECT is not answered`;
  answerOnSocket(socket, '405 Method Not Allowed', new RequestProblem('route.method_not_allowed', detail, { headers: { Allow: '' } }));
}
