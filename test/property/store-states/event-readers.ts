import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { FeedFormatName } from '../../../src/formats/feed-formats.ts';
import type { OracleConditions, OracleMatch } from '../../oracle/search-oracle.ts';
import { runCli } from '../../src/cli/cli-process.ts';
import type { WalkedProgram } from './walked-program.ts';

/** An event as a reader shows it. Formats leave out different parts of it. */
export interface SeenEvent {
  readonly logId: string;
  readonly timestamp: number;
  readonly zoneId?: number;
  readonly sequence?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly log?: unknown;
}

/** The events that were read, and the cursor after them. */
export interface SeenPart {
  readonly events: readonly SeenEvent[];
  readonly cursor: string | null;
  /** Whether the reader says that nothing is left. */
  readonly isWhole: boolean;
}

type Site = Pick<WalkedProgram, 'url' | 'cursorBehind' | 'stats'>;

export interface FeedReadOptions {
  /** The zones as the path has them. */
  readonly zones: string;
  readonly format: FeedFormatName;
  readonly limit: number;
  /** Null: from the oldest. */
  readonly cursor: string | null;
  readonly pages: number;
}

/** Some pages of `GET …/feed`. Throws where an answer is not one whole page of at most `limit` events. */
export async function readFeedPages({ url }: Site, { zones, format, limit, cursor, pages }: FeedReadOptions): Promise<SeenPart> {
  const events: SeenEvent[] = [];
  let at = cursor;
  for (let page = 0; page < pages; page += 1) {
    const parameters = new URLSearchParams({ format, limit: String(limit), ...(at === null ? {} : { cursor: at }) });
    const text = await textOf(await fetch(`${url}/shield/event-logs/${zones}/feed?${parameters}`));
    const lines = linesOf(text);
    const end = JSON.parse(lines.pop() ?? '') as { readonly cursor: string; readonly more: boolean; readonly count: number };
    if (end.count !== lines.length || lines.length > limit) {
      throw new Error(`a page of ${limit} has ${lines.length} lines, and says ${end.count}`);
    }
    if (end.more && end.cursor === at) {
      throw new Error('a page has nothing, and says that there is more');
    }
    for (const line of lines) events.push(seenInFeed(line, format));
    at = end.cursor;
    if (!end.more) return { events, cursor: at, isWhole: true };
  }
  return { events, cursor: at, isWhole: false };
}

export interface TailReadOptions {
  readonly zones: string;
  readonly cursor: string;
  /** So many events at most. */
  readonly most?: number;
  /** Only events that match. */
  readonly search?: OracleMatch;
}

/** A client comes back so often at most. The program cuts off one that reads nothing for a while, as here while the oracle works. */
const MAX_CONNECTIONS = 50;

/** The stream of a client that comes back with `Last-Event-ID`, up to its end, or to so many events, whichever comes first. */
export async function readTail(
  site: Site,
  { zones, cursor, most = Number.POSITIVE_INFINITY, search = {} }: TailReadOptions,
): Promise<SeenPart> {
  const { storedEvents, duplicateEvents } = await site.stats();
  // Duplicates have taken a sequence, too.
  const end = site.cursorBehind(storedEvents + duplicateEvents);
  const parameters = new URLSearchParams({ search: JSON.stringify(search) });
  const url = `${site.url}/shield/event-logs/${zones}/tail?${parameters}`;
  const events: SeenEvent[] = [];
  let last = cursor;
  for (let connection = 0; connection < MAX_CONNECTIONS; connection += 1) {
    for await (const { id = '', event, data = '' } of messagesAfter(url, last)) {
      if (event === 'event') {
        events.push(seenInTail(data));
        last = id;
      } else if (event === 'dropped') {
        throw new Error(`a client that reads lost events: ${data}`);
      } else if (id === end) {
        // A sign of life, or the first message: everything up to here was sent before it.
        return { events, cursor: end, isWhole: true };
      }
      if (events.length >= most) return { events, cursor: last, isWhole: false };
    }
  }
  throw new Error(`the stream of ${zones} ended ${MAX_CONNECTIONS} times before its end`);
}

type Message = Readonly<Record<string, string>>;

/** The messages of one connection, as long as it lasts. */
async function* messagesAfter(url: string, cursor: string): AsyncGenerator<Message> {
  const hangUp = new AbortController();
  const headers = { accept: 'text/event-stream', 'last-event-id': cursor };
  const response = await fetch(url, { headers, signal: hangUp.signal });
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  let rest = '';
  try {
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + text).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) yield members(frame);
    }
  } catch (error) {
    // What fetch says of a connection that was cut off.
    if (!(error instanceof TypeError && error.message === 'terminated')) throw error;
  } finally {
    hangUp.abort();
  }
}

/** The members of a server-sent event, each of which is a line. */
function members(frame: string): Message {
  return Object.fromEntries(frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
}

export interface ConsumerOptions extends Omit<FeedReadOptions, 'pages'> {
  /** Where the file and the state are. */
  readonly folder: string;
  readonly name: string;
}

/** The file of `shieldlog feed … --to FILE --once`, which goes on where the same name left off. */
export async function runConsumer({ url }: Site, options: ConsumerOptions): Promise<SeenPart> {
  const { zones, format, limit, cursor, folder, name } = options;
  const [file, state] = [join(folder, `${name}.ndjson`), join(folder, `${name}.json`)];
  if (cursor !== null) {
    await writeFile(state, JSON.stringify({ url, zone: zoneKey(zones), format, to: file, cursor, position: null }));
  }
  const args = [
    'feed',
    '--url',
    url,
    `--zone=${zones}`,
    '--to',
    file,
    '--once',
    '--state',
    state,
    '--format',
    format,
    '--limit',
    `${limit}`,
  ];
  const { status, stderr } = await runCli(args);
  if (status !== 0) throw new Error(`shieldlog feed ended with ${status}: ${stderr}`);
  const text = await readFile(file, 'utf8').catch(() => '');
  return { events: linesOf(text).map((line) => seenInFeed(line, format)), cursor: null, isWhole: true };
}

/** Returns the zones as the state of the command has them: each once, ascending. */
function zoneKey(zones: string): string {
  return zones === 'all' ? zones : [...new Set(zones.split(',').map(Number))].sort((a, b) => a - b).join(',');
}

export type ExportType = 'text/csv' | 'application/x-ndjson';

/** Begins `POST …/export` of the zones as the path has them; the events come when the answer is read. */
export function beginExport({ url }: Site, zones: string, body: OracleConditions, type: ExportType): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: type };
  return fetch(`${url}/shield/event-logs/${zones}/export`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** The events of an export. Throws where one of several zones does not say its zone, or one of a single zone does. */
export async function exportedEvents(response: Response, zones: string, type: ExportType): Promise<SeenEvent[]> {
  const text = await textOf(response);
  const events = type === 'text/csv' ? seenInCsv(text) : linesOf(text).map(seenInNdjson);
  const isOfSeveral = zones === 'all' || zones.includes(',');
  const odd = events.find(({ zoneId }) => isOfSeveral !== (zoneId !== undefined));
  if (odd !== undefined) throw new Error(`an event of an export of ${zones} is ${JSON.stringify(odd)}`);
  return events;
}

function seenInNdjson(json: string): SeenEvent {
  const { shieldZoneId: zoneId, ...event } = JSON.parse(json);
  return { ...event, ...(zoneId === undefined ? {} : { zoneId }) };
}

function seenInCsv(text: string): SeenEvent[] {
  const records: Readonly<Record<string, string>>[] = parse(text, { columns: true, record_delimiter: '\r\n' });
  return records.map(({ logId = '', timestamp, shieldZoneId: zone, log = '' }) => ({
    logId,
    timestamp: Number(timestamp),
    log: JSON.parse(log) as unknown,
    // A negative number looks like a formula.
    ...(zone === undefined ? {} : { zoneId: Number(zone.replace(/^'/, '')) }),
  }));
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 500)}`);
  return text;
}

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

function seenInFeed(line: string, format: FeedFormatName): SeenEvent {
  switch (format) {
    case 'native':
      return seenInNative(line);
    case 'ecs': {
      const { event } = JSON.parse(line) as { readonly event: { readonly sequence: number; readonly original: string } };
      return { ...seenInNative(event.original), sequence: event.sequence };
    }
    case 'ocsf': {
      const { metadata, raw_data } = JSON.parse(line) as { readonly metadata: { readonly sequence: number }; readonly raw_data: string };
      return { ...seenInNative(raw_data), sequence: metadata.sequence };
    }
    case 'cef': {
      const [, timestamp, zoneId, logId = ''] = /\|rt=(\d+) .*? deviceExternalId=(-?\d+) externalId=(\S+)/.exec(line) ?? [];
      return { logId, timestamp: Number(timestamp), zoneId: Number(zoneId) };
    }
  }
}

function seenInNative(json: string): SeenEvent {
  const { logId, shieldZoneId: zoneId, timestamp, log, ...fields } = JSON.parse(json);
  return { logId, timestamp, zoneId, fields, log };
}

function seenInTail(data: string): SeenEvent {
  const { logId, shieldZoneId: zoneId, timestamp, log, fields } = JSON.parse(data);
  return { logId, timestamp, zoneId, fields, log };
}
