import { randomUUID } from 'node:crypto';
import { type ClickHouseClient as Connection, createClient } from '@clickhouse/client';
import { proveAnswer, type Summary } from './proof.ts';
import type { ClickhouseSettings } from './settings.ts';

/** Where ClickHouse is, and who asks it. */
export interface ClickhouseAddress {
  /** One server, or replicas of one: the first that can be reached is asked. */
  readonly urls: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** As many statements may be under way: those of all seats of the queue, and those that the store makes by itself. */
const MAX_CONNECTIONS = 64;

/** So long may the end of a statement take before its seat is given back all the same. */
const END_MS = 30_000;

/** What the number of a statement ends with that is asked again. */
export const AGAIN = '-again';

/** The connections to one server, which may take nothing and send nothing for so many milliseconds. */
export function connectionTo(url: string, { user, password, database }: ClickhouseAddress, idleMs: number): Connection {
  return createClient({
    url,
    username: user,
    password,
    database,
    application: 'shieldlog',
    request_timeout: idleMs,
    max_open_connections: MAX_CONNECTIONS,
    // A server closes what is idle, and a statement that is sent at that moment fails. A busy program looks late whether one is.
    keep_alive: { enabled: true, eagerly_destroy_stale_sockets: true },
    compression: isOfThisMachine(url) ? {} : { response: { codec: 'zstd' }, request: { codec: 'zstd', level: 1 } },
    // Errors are the store's to tell.
    log: { level: 127 },
  });
}

/** What stays on this machine is not compressed, because that takes longer than sending it. */
function isOfThisMachine(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

/** A statement with its parameters by their names. */
interface SentStatement {
  readonly text: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly settings?: ClickhouseSettings;
}

/** Runs a statement that has no rows; resolves with what the server counted of it. */
export async function runOn(connection: Connection, { text, parameters = {}, settings = {} }: SentStatement): Promise<Summary> {
  const query_id = randomUUID();
  const { response_headers, summary } = await connection.command({
    query: text,
    query_params: { ...parameters },
    query_id,
    clickhouse_settings: settingsOf(settings),
  });
  proveAnswer(response_headers, query_id);
  return summary;
}

/** Ends a statement whose reader is gone, and waits for its end. Where that fails, it ends by itself. */
export async function endStatement(server: Connection, queryId: string): Promise<void> {
  try {
    const query = `KILL QUERY WHERE query_id IN ({id:String}, concat({id:String}, '${AGAIN}')) SYNC`;
    await server.command({ query, query_params: { id: queryId }, abort_signal: AbortSignal.timeout(END_MS) });
  } catch {
    // The server cannot be reached, or the statement has ended.
  }
}

/** The client's type of settings has only those of its own version. */
export function settingsOf(settings: ClickhouseSettings): Record<string, string | number> {
  return { ...settings };
}

/** Whether the client gave a server up that was silent for too long. */
export function isTimeout(error: unknown): boolean {
  return messageOf(error).startsWith('Timeout error');
}

/** Errors of the network may have a code alone. */
export function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === '' ? String(code) : message;
}
