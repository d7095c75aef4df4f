import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import type { RowPiece } from '../../../query/plan/search-result.ts';
import { pieceOf } from '../../fixtures/answered-rows.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { openConnection } from '../http/raw-connection.ts';
import { type Answer, ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const PATH = '/shield/event-logs/7/export';

let app: RunningApp;

afterEach(() => app.stop());

async function exported(body: string): Promise<Answer> {
  return ask(app, PATH, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

async function metric(name: string): Promise<number> {
  const { text } = await ask(app, '/metrics');
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? Number.NaN,
  );
}

/** More than the buffers of a connection hold. */
async function fill(): Promise<void> {
  const body = 'x'.repeat(100_000);
  for (let part = 0; part < 3; part += 1) {
    const events = Array.from({ length: 100 }, (_, index) => eventLine({ logId: `e${part}-${index}`, log: { body } }));
    expect((await ingest(app, events.join(''))).status).toBe(202);
  }
}

describe('an export under way', () => {
  /** Asks for an export, and reads no more of the answer than its head. */
  async function stalled(version = '1.1') {
    const socket = await openConnection(app);
    const body = lastHour();
    socket.write(
      `POST ${PATH} HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    let error: string | null = null;
    socket.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
      error = code;
    });
    const closed = new Promise<string | null>((resolve) => socket.once('close', () => resolve(error)));
    const [first] = await once(socket, 'data');
    socket.pause();
    return { socket, closed, head: String(first).split('\r\n\r\n', 1)[0] ?? '' };
  }

  /** Reads on to the end; resolves with how the connection ended and the last bytes. */
  async function readOn({
    socket,
    closed,
  }: Awaited<ReturnType<typeof stalled>>): Promise<{ readonly error: string | null; readonly tail: string }> {
    let tail = '';
    socket.on('data', (chunk) => {
      tail = (tail + String(chunk)).slice(-7);
    });
    socket.resume();
    return { error: await closed, tail };
  }

  test.each(['1.0', '1.1'])('whose client stops reading is cut off, and the client can tell (HTTP/%s)', async (version) => {
    app = await startApp({ env: { EXPORT_IDLE_MS: '300' } });
    await fill();
    const reader = await stalled(version);
    expect(reader.head).toContain(' 200 OK');
    await eventually('it is cut off', async () => (await metric('shieldlog_exports_total{format="csv",outcome="idle"}')) === 1);
    expect(await readOn(reader)).toMatchObject({ error: 'ECONNRESET' });
    expect(await metric('shieldlog_exports_under_way')).toBe(0);
    expect(app.log.filter(({ msg }) => msg === 'an export was cut off')).toHaveLength(1);
  });

  test('is not cut off because the store is slow', async () => {
    app = await startApp({ env: { EXPORT_IDLE_MS: '50' } });
    await ingest(app, eventLine({ logId: 'a' }));
    const { readAll } = app.store;
    app.store.readAll = async function* (plan, options) {
      yield* readAll.call(app.store, plan, options);
      for (let timeout = 0; timeout < 3; timeout += 1) await once(app.app.server, 'timeout');
    };
    const { status, text } = await exported(lastHour());
    expect([status, text.split('\r\n').length]).toEqual([200, 3]);
  });

  test('that is past its deadline is cut off, although its client reads', async () => {
    app = await startApp({ env: { EXPORT_DEADLINE_MS: '2000' } });
    await ingest(app, eventLine({ logId: 'a' }));
    const { readAll } = app.store;
    app.store.readAll = async function* (plan, options) {
      const parts: RowPiece[] = [];
      for await (const part of readAll.call(app.store, plan)) parts.push(part);
      while (options?.signal?.aborted === false) yield* parts;
      options?.signal?.throwIfAborted();
    };
    // Once before, so that the deadline is not over before the first row of a store that nobody has asked yet.
    expect((await search(app, lastHour())).body.total).toBe(1);
    const reader = await stalled();
    expect(reader.head).toContain(' 200 OK');
    expect(await readOn(reader)).toMatchObject({ error: 'ECONNRESET' });
    await eventually('it is counted', async () => (await metric('shieldlog_exports_total{format="csv",outcome="deadline"}')) === 1);
  });

  test('ends when its client goes away, and gives everything back', async () => {
    app = await startApp();
    await fill();
    await app.store.settle('flush');
    const { socket } = await stalled();
    expect(await metric('shieldlog_exports_under_way')).toBe(1);
    socket.destroy();
    await eventually('it has ended', async () => (await metric('shieldlog_exports_total{format="csv",outcome="hung_up"}')) === 1);
    expect(await metric('shieldlog_exports_under_way')).toBe(0);
    expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test('is one of four: a fifth is told to come back', async () => {
    app = await startApp();
    await fill();
    const readers = await Promise.all(Array.from({ length: 4 }, () => stalled()));
    const { status, headers, body } = await exported(lastHour());
    expect([status, body.errorKey, headers.get('retry-after')]).toEqual([503, 'store.busy', '10']);
    expect((await search(app, lastHour({ pageSize: 1 }))).body.total).toBe(300);
    readers[0]?.socket.destroy();
    await eventually('there is room again', async () => (await exported(lastHour({ query: 'none' }))).status === 200);
    const ends = await Promise.all(readers.slice(1).map(readOn));
    expect(ends).toEqual(Array(3).fill({ error: null, tail: '\r\n0\r\n\r\n' }));
  });

  test('that fails breaks the connection off, and says so in the log', async () => {
    app = await startApp();
    await fill();
    const { readAll } = app.store;
    app.store.readAll = async function* (plan, options) {
      yield* readAll.call(app.store, plan, options);
      throw new Error('a defect');
    };
    const reader = await stalled();
    expect((await readOn(reader)).error).toBe('ECONNRESET');
    expect(app.log.filter(({ msg }) => msg === 'an export broke off')).toHaveLength(1);
    expect(await metric('shieldlog_exports_total{format="csv",outcome="failed"}')).toBe(1);
  });

  test('that fails before anything of it was sent is answered 500, as if it had not begun', async () => {
    app = await startApp();
    app.store.readAll = async function* () {
      yield pieceOf([]);
      throw new Error('a defect');
    };
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' };
    const answer = await ask(app, PATH, { method: 'POST', headers, body: lastHour() });
    expect([answer.status, answer.text]).toEqual([500, '']);
    for (const name of ['content-encoding', 'content-disposition']) expect(answer.headers.get(name)).toBeNull();
    await eventually('it is counted', async () => (await metric('shieldlog_exports_total{format="csv",outcome="failed"}')) === 1);
  });

  test('that cannot begin in time is answered 503', async () => {
    app = await startApp({ env: { EXPORT_DEADLINE_MS: '50' } });
    const { readAll } = app.store;
    app.store.readAll = async function* (plan, options = {}) {
      await once(options.signal as AbortSignal, 'abort');
      yield* readAll.call(app.store, plan, options);
    };
    const { status, headers, body } = await exported(lastHour());
    expect([status, body.errorKey, headers.get('retry-after')]).toEqual([503, 'search.deadline', '5']);
  });

  // Plain CSV begins with its header, which is sent as soon as there are rows.
  test.each([
    ['text/csv', 'gzip'],
    ['application/x-ndjson', 'identity'],
    ['application/x-ndjson', 'gzip'],
  ])('that has found rows but sent none of them in time is answered 503 (%s, %s)', async (accept, encoding) => {
    app = await startApp({ env: { EXPORT_DEADLINE_MS: '50' } });
    app.store.readAll = async function* (_plan, { signal } = {}) {
      await once(signal as AbortSignal, 'abort');
      yield pieceOf([]);
      signal?.throwIfAborted();
    };
    const headers = { 'content-type': 'application/json', accept, 'accept-encoding': encoding };
    const answer = await ask(app, PATH, { method: 'POST', headers, body: lastHour() });
    expect([answer.status, answer.body.errorKey, answer.headers.get('retry-after')]).toEqual([503, 'search.deadline', '5']);
    for (const name of ['content-encoding', 'content-disposition']) expect(answer.headers.get(name)).toBeNull();
  });
});

test('a client that goes away while its first row is read is nothing to log', async () => {
  app = await startApp();
  await ingest(app, eventLine());
  const socket = await openConnection(app);
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  app.app.server.once('request', (_request, response) => response.once('close', onClosed));
  const { readAll } = app.store;
  app.store.readAll = async function* (plan) {
    socket.destroy();
    await closed;
    // The row has come before the reader hears of it.
    yield* readAll.call(app.store, plan);
  };
  const body = lastHour();
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await eventually('it is counted', async () => (await metric('shieldlog_exports_total{format="csv",outcome="hung_up"}')) === 1);
  expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
