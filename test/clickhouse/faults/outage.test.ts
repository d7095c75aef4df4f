import { describe, expect, test } from 'vitest';
import { STORE_PROBLEMS } from '../../../src/http/problem.ts';
import { type Answer, ask, eventLine, ingest, lastHour, search } from '../../src/running-app.ts';
import { type BreakableServer, breakableServer, testDatabase } from '../engine.ts';
import { eventsOf, metric, type ProgramOn, programOn, readiness } from './program-on.ts';

const ERROR = 50;

/** The lines of the log about the server, without those of its length. */
function tellings({ log }: ProgramOn): readonly string[] {
  return log.filter(({ msg }) => msg.includes('ClickHouse')).map(({ msg }) => msg.replace(/after [\d.]+ s$/, 'after a time'));
}

/** The refusal tells its caller what the program says of such errors, and the log has the reason by the id of the answer. */
function expectRefused({ log }: ProgramOn, { status, headers, body }: Answer, code: keyof typeof STORE_PROBLEMS, why: unknown): void {
  const { errorKey, detail } = STORE_PROBLEMS[code];
  expect([status, body.errorKey, body.detail]).toEqual([503, errorKey, detail]);
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
  const id = headers.get('x-request-id');
  expect(log.find(({ reqId }) => reqId === id)).toMatchObject({ err: { message: why } });
}

/** Everything that asks the store is refused with 503 and Retry-After. */
async function expectUnavailable(program: ProgramOn, why: RegExp): Promise<void> {
  const answers = [
    await search(program, lastHour()),
    await ingest(program, eventLine({ logId: 'refused' })),
    await ask(program, '/shield/event-logs/7/feed?limit=10'),
    await ask(program, '/ingest/dead-letters'),
  ];
  for (const answer of answers) expectRefused(program, answer, 'unavailable', expect.stringMatching(why));
}

/** The first statement that fails may be one that was under way. */
const AWAY = /^ClickHouse cannot be reached: http:\/\/127\.0\.0\.1:\d+: (connect ECONNREFUSED|socket hang up|(read|write) E\w+|aborted)/;

describe('a server that is away', () => {
  test('at the start does not keep the program from starting, which goes on once it is there', async () => {
    const server = await breakableServer();
    const { name: database } = await testDatabase();
    await server.goAway();
    const program = await programOn([server.url], { database });
    expect((await ask(program, '/healthz')).status).toBe(200);
    const away = expect.stringMatching(/^store: ClickHouse cannot be reached/);
    await expect.poll(() => readiness(program)).toEqual({ status: 503, reasons: [away] });
    await expectUnavailable(program, AWAY);
    await server.comeBack();
    await expect.poll(() => readiness(program)).toEqual({ status: 200, reasons: [] });
    expect((await ingest(program, eventLine({ logId: 'a' }))).status).toBe(202);
    expect(await eventsOf(program)).toEqual({ total: 1, feed: ['a'] });
  });

  test('later is told once, and all resumes by itself with nothing lost or twice', async () => {
    const server = await breakableServer();
    const program = await programOn([server.url]);
    expect((await ingest(program, eventLine({ logId: 'before' }))).status).toBe(202);
    await expect.poll(() => metric(program, 'shieldlog_store_reachable')).toBe(1);
    await expect.poll(() => metric(program, 'shieldlog_events')).toBe(1);
    await server.goAway();
    await expectUnavailable(program, AWAY);
    await expectUnavailable(program, AWAY);
    expect((await readiness(program)).status).toBe(503);
    expect((await ask(program, '/healthz')).status).toBe(200);
    await expect.poll(() => metric(program, 'shieldlog_store_reachable')).toBe(0);
    await expect.poll(() => metric(program, 'shieldlog_events')).toBeUndefined();
    await expect.poll(() => metric(program, 'shieldlog_stored_events_total')).toBe(1);
    await expect.poll(() => metric(program, 'shieldlog_received_events_total{source="http",verdict="accepted"}')).toBe(1);
    await server.comeBack();
    for (const logId of ['refused', 'after']) expect((await ingest(program, eventLine({ logId }))).status).toBe(202);
    await expect.poll(() => readiness(program)).toEqual({ status: 200, reasons: [] });
    expect(await eventsOf(program)).toEqual({ total: 3, feed: ['before', 'refused', 'after'] });
    await expect.poll(() => metric(program, 'shieldlog_store_reachable')).toBe(1);
    const told = [expect.stringMatching(AWAY), 'ClickHouse can be asked again, after a time'];
    expect(tellings(program)).toEqual(told);
    await server.goAway();
    await expectUnavailable(program, AWAY);
    await server.comeBack();
    // The failed insert is forgotten when the server answers, although no other one was made.
    await expect.poll(() => readiness(program)).toEqual({ status: 200, reasons: [] });
    expect(tellings(program)).toEqual([...told, ...told]);
  });
});

test('a server that takes statements and does not answer is not waited for by whoever reads metrics', async () => {
  const server = await breakableServer();
  const program = await programOn([server.url]);
  expect((await ingest(program, eventLine({ logId: 'a' }))).status).toBe(202);
  await server.break({ kind: 'hold', at: 'before' });
  await expect.poll(() => metric(program, 'shieldlog_store_reachable')).toBe(0);
  await expect.poll(() => metric(program, 'shieldlog_dead_letters')).toBeUndefined();
  await expect.poll(() => metric(program, 'shieldlog_stored_events_total')).toBe(1);
  await server.mend();
  await expect.poll(() => metric(program, 'shieldlog_store_reachable')).toBe(1);
});

describe('a wrong password', () => {
  const REFUSED = /^ClickHouse refuses CLICKHOUSE_USER=writer with its password: writer: Authentication failed/;

  function expectNoPassword(program: ProgramOn): void {
    expect(JSON.stringify(program.log)).not.toContain('not-the-password');
  }

  test('at the start is told without the password', async () => {
    const server = await breakableServer('writer', 'right');
    const { name: database } = await testDatabase();
    const env = { CLICKHOUSE_USER: 'writer', CLICKHOUSE_PASSWORD: 'not-the-password' };
    const program = await programOn([server.url], { database, env });
    const refused = expect.stringMatching(/refuses CLICKHOUSE_USER=writer/);
    await expect.poll(() => readiness(program)).toEqual({ status: 503, reasons: [refused] });
    await expectUnavailable(program, REFUSED);
    await expect.poll(() => metric(program, 'shieldlog_store_reachable')).toBe(0);
    expectNoPassword(program);
  });

  test('later is told once, as an outage is', async () => {
    const server = await breakableServer('writer', 'not-the-password');
    const env = { CLICKHOUSE_USER: 'writer', CLICKHOUSE_PASSWORD: 'not-the-password' };
    const program = await programOn([server.url], { env });
    const failed = await server.break({
      kind: 'refuse',
      code: 516,
      name: 'AUTHENTICATION_FAILED',
      message: 'writer: Authentication failed',
    });
    await expectUnavailable(program, REFUSED);
    await expectUnavailable(program, REFUSED);
    await server.mend(failed);
    expect((await ingest(program, eventLine({ logId: 'a' }))).status).toBe(202);
    expect(await eventsOf(program)).toEqual({ total: 1, feed: ['a'] });
    expect(tellings(program)).toEqual([expect.stringMatching(REFUSED), 'ClickHouse can be asked again, after a time']);
    expectNoPassword(program);
  });
});

interface Refusal {
  readonly code: number;
  readonly name: string;
  readonly message: string;
  readonly told: string;
}

/** The capitals in the messages are no names of errors. */
const REFUSALS: readonly Refusal[] = [
  { code: 252, name: 'TOO_MANY_PARTS', message: 'Too many parts (3000). (TABLE) Merges are slow', told: 'ClickHouse has too much to do' },
  { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: '(TOTAL) memory limit exceeded', told: 'ClickHouse has too much to do' },
  { code: 202, name: 'TOO_MANY_SIMULTANEOUS_QUERIES', message: 'Too many queries', told: 'ClickHouse has too much to do' },
  { code: 159, name: 'TIMEOUT_EXCEEDED', message: 'Timeout exceeded: elapsed 30 s', told: 'ClickHouse has too much to do' },
  { code: 242, name: 'TABLE_IS_READ_ONLY', message: 'Table is in readonly mode', told: 'ClickHouse cannot write' },
  { code: 243, name: 'NOT_ENOUGH_SPACE', message: 'Cannot reserve 1.00 MiB', told: 'ClickHouse cannot write' },
];

/** How the statements begin that are made for an upload with events and dead letters. */
const INSERTS = ['INSERT INTO "events_local"', 'INSERT INTO letters'];

describe.each(REFUSALS)('a server that refuses with $name', ({ told, ...error }) => {
  const broken = async (matching: string): Promise<{ readonly server: BreakableServer; readonly program: ProgramOn }> => {
    const server = await breakableServer();
    const program = await programOn([server.url]);
    await server.break({ kind: 'refuse', ...error, matching });
    return { server, program };
  };

  test.each(INSERTS)('%s', async (insert) => {
    const { server, program } = await broken(`^${insert}`);
    const body = `${eventLine({ logId: 'a' })}{"shieldZoneId":7}\n`;
    expectRefused(program, await ingest(program, body), 'append_failed', expect.stringContaining(told));
    await expect.poll(() => readiness(program)).toEqual({ status: 503, reasons: [expect.stringContaining(told)] });
    await expect.poll(() => metric(program, 'shieldlog_store_reachable')).toBe(1);
    await server.mend();
    expect((await ingest(program, body)).body).toMatchObject({ accepted: 1 });
    expect(await eventsOf(program)).toEqual({ total: 1, feed: ['a'] });
    await expect.poll(() => metric(program, 'shieldlog_dead_letters')).toBe(1);
    await expect.poll(() => readiness(program)).toEqual({ status: 200, reasons: [] });
  });

  test('a search and a page of the feed', async () => {
    const { server, program } = await broken('FROM "?events_local');
    for (const answer of [await search(program, lastHour()), await ask(program, '/shield/event-logs/7/feed?limit=10')]) {
      expectRefused(program, answer, 'overloaded', expect.stringContaining(told));
    }
    await server.mend();
    expect(await eventsOf(program)).toEqual({ total: 0, feed: [] });
  });
});

test('no refusal of the server is logged as a defect', async () => {
  const server = await breakableServer();
  const program = await programOn([server.url]);
  for (const { told: _, ...error } of REFUSALS) {
    const fault = await server.break({ kind: 'refuse', ...error, matching: '^SELECT' });
    await search(program, lastHour());
    await server.mend(fault);
  }
  expect(program.log.filter(({ level }) => level >= ERROR)).toEqual([]);
});
