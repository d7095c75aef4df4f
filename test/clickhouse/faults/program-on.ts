import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { type Program, startProgram } from '../../../src/program.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { ask, lastHour } from '../../src/running-app.ts';
import { testDatabase } from '../engine.ts';

/** The program on ClickHouse, in the process of the test. */
export interface ProgramOn {
  readonly url: string;
  /** The lines of its log so far. */
  readonly log: readonly LogLine[];
  stop: Program['stop'];
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [member: string]: unknown;
}

interface ProgramChoices {
  /** Default: an empty one, which is dropped with the test. */
  readonly database?: string;
  /** Variables as in the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the program on the servers of these URLs. It is stopped with the test, if it was not before. */
export async function programOn(urls: readonly string[], { database, env = {} }: ProgramChoices = {}): Promise<ProgramOn> {
  const name = database ?? (await testDatabase()).name;
  const place = { STORE: 'clickhouse', CLICKHOUSE_URL: urls.join(','), CLICKHOUSE_DATABASE: name, DATA_DIR: temporaryFolder() };
  const config = loadConfig({ HOST: '127.0.0.1', PORT: '0', ...place, ...env });
  const log: LogLine[] = [];
  const logger = pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line)) });
  const program = await startProgram({ config, now: Date.now, logger, onFatal: ({ message }) => expect.unreachable(message) });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= program.stop();
    return stopped;
  };
  onTestFinished(() => stop().catch(() => {}));
  return { url: program.address, log, stop };
}

/** What the program has, by its search and by its feed. */
export async function eventsOf(program: Pick<ProgramOn, 'url'>): Promise<{ readonly total: number; readonly feed: readonly string[] }> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: lastHour() };
  const found = await ask(program, '/shield/event-logs/7/search', init);
  expect(found.status).toBe(200);
  const feed = await ask(program, '/shield/event-logs/7/feed?limit=1000');
  expect(feed.status).toBe(200);
  const lines = feed.text.trimEnd().split('\n').slice(0, -1);
  return { total: found.body.total, feed: lines.map((line) => JSON.parse(line).logId) };
}

/** The value of a metric; undefined where it has none. */
export async function metric(program: Pick<ProgramOn, 'url'>, name: string): Promise<number | undefined> {
  const { status, text } = await ask(program, '/metrics');
  expect(status).toBe(200);
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

/**
 * What `/readyz` tells. It is to be polled for: on a busy machine it may tell for a while that ClickHouse has not answered within two
 * seconds.
 */
export async function readiness(
  program: Pick<ProgramOn, 'url'>,
): Promise<{ readonly status: number; readonly reasons: readonly string[] }> {
  const { status, body } = await ask(program, '/readyz');
  return { status, reasons: body.reasons };
}
