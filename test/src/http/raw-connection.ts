import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RunningApp } from '../running-app.ts';

/** A TCP connection to the app, for requests that no HTTP client would send. */
export async function openConnection({ url }: Pick<RunningApp, 'url'>): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** One HTTP answer as it came over the wire. */
export interface RawAnswer {
  /** Status line and headers. */
  readonly head: string;
  /** The body as JSON; throws where it is none. */
  readonly body: ReturnType<typeof JSON.parse>;
}

/** Returns the bytes that the app sends until it closes the connection, cut at the first blank line. */
export async function answerOn(socket: Socket): Promise<RawAnswer> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  const end = text.indexOf('\r\n\r\n');
  return {
    head: text.slice(0, end),
    get body() {
      return JSON.parse(text.slice(end + 4));
    },
  };
}
