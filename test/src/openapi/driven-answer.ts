import { once } from 'node:events';
import { connect } from 'node:net';

/** A request, before it is known which program it goes to. */
export interface Call {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer to a call. */
export interface DrivenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Addressed {
  /** Without a slash at its end. */
  readonly url: string;
}

/** Sends a request as a client would. */
export async function send({ url }: Addressed, { method, path, headers = {}, body }: Call): Promise<DrivenAnswer> {
  const answer = await fetch(`${url}${path}`, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Sends the head of a request that promises so many bytes, and never any of them. */
export async function sendHead({ url }: Addressed, { method, path, headers = {} }: Call, lengthBytes: number): Promise<DrivenAnswer> {
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const lines = Object.entries({ Host: host, Connection: 'close', ...headers, 'Content-Length': String(lengthBytes) }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = text.slice(0, end).split('\r\n');
  const answered = new Headers(
    fields.map((field): [string, string] => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers: answered, text: text.slice(end + 4) };
}
