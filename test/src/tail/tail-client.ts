import type { Socket } from 'node:net';
import { EventSource } from 'eventsource';
import { expect, onTestFinished } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { openConnection } from '../http/raw-connection.ts';
import { ask, eventLine, ingest, type RunningApp } from '../running-app.ts';

/** A row as the stream gives it. */
export interface TailedRow {
  readonly logId: string;
  readonly timestamp: number;
  readonly log: unknown;
  readonly fields: Readonly<Record<string, string>>;
  readonly shieldZoneId: number;
}

/** A live tail as a browser would have it, and everything that came so far. */
export interface TailClient {
  readonly rows: readonly TailedRow[];
  /** The ids of the rows. */
  readonly ids: readonly string[];
  /** The counts of the `dropped` messages. */
  readonly dropped: readonly number[];
  /** Which rows are there, by `logId`. */
  logIds(): readonly string[];
  /** How often a stream was opened. */
  opened(): number;
  close(): void;
}

export interface TailOptions {
  readonly zone?: number | string;
  /** The parameter `search`, as an object. */
  readonly search?: object;
  readonly accessKey?: string;
  readonly lastEventId?: string;
}

export function tailPath({ zone = 7, search, lastEventId }: TailOptions = {}): string {
  const parameters = new URLSearchParams({
    ...(search === undefined ? {} : { search: JSON.stringify(search) }),
    ...(lastEventId === undefined ? {} : { lastEventId }),
  });
  return `/shield/event-logs/${zone}/tail${parameters.size === 0 ? '' : `?${parameters}`}`;
}

/** Opens a tail with the client that browsers have, and resolves when the stream has begun. It ends with the test. */
export async function openTail({ url }: { readonly url: string }, options: TailOptions = {}): Promise<TailClient> {
  const { accessKey } = options;
  const rows: TailedRow[] = [];
  const ids: string[] = [];
  const dropped: number[] = [];
  let opened = 0;
  const source = new EventSource(`${url}${tailPath(options)}`, {
    fetch: (input, init) =>
      fetch(input, { ...init, headers: { ...init.headers, ...(accessKey === undefined ? {} : { accesskey: accessKey }) } }),
  });
  source.addEventListener('ready', () => {
    opened += 1;
  });
  source.addEventListener('event', ({ data, lastEventId }) => {
    rows.push(JSON.parse(data));
    ids.push(lastEventId);
  });
  source.addEventListener('dropped', ({ data }) => {
    dropped.push(JSON.parse(data).count);
  });
  onTestFinished(() => source.close());
  await eventually('the stream begins', () => opened > 0);
  return { rows, ids, dropped, logIds: () => rows.map(({ logId }) => logId), opened: () => opened, close: () => source.close() };
}

/** A stream on a socket of its own, which reads only while it is told to. */
export interface RawTail {
  readonly socket: Socket;
  /** Returns the bytes that came so far, headers included. */
  raw(): string;
  /** The same without the sizes between the chunks of the body. */
  text(): string;
}

export async function openRaw(app: Pick<RunningApp, 'url'>, path = tailPath(), headers = ''): Promise<RawTail> {
  const socket = await openConnection(app);
  let raw = '';
  socket.on('data', (chunk) => {
    raw += String(chunk);
  });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  await eventually('the answer begins', () => raw.includes('\r\n\r\n'));
  return { socket, raw: () => raw, text: () => raw.replaceAll(/\r\n[0-9a-f]+\r\n/g, '') };
}

/** Takes in events, all of which are good. */
export async function take(app: RunningApp, ...events: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  expect((await ingest(app, events.map(eventLine).join(''))).body.accepted).toBe(events.length);
}

/** Returns a value of `/metrics`; a regular expression matches the beginning of its line. */
export async function metric(app: RunningApp, name: string): Promise<number> {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await ask(app, '/metrics')).text)?.[1]);
}

/** How many clients the live tail has. */
export function watchers(app: RunningApp): Promise<number> {
  return metric(app, 'shieldlog_tail_watchers');
}
