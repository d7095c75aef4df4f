import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { SearchOptions } from '../../../store/event-store.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

let app: RunningApp;

afterEach(() => app.stop());

/** Enough that the search below takes long on any machine. */
async function fill(): Promise<void> {
  for (let part = 0; part < 4; part += 1) {
    const lines = Array.from({ length: 10_000 }, (_, index) =>
      eventLine({
        logId: `${part}-${index}`,
        url: `/${'ab'.repeat(500)}/${index}`,
        ua: `${'cd'.repeat(100)}${index}`,
        ip: `10.${part}.1.${index % 256}`,
      }),
    );
    expect((await ingest(app, lines.join(''))).body.accepted).toBe(10_000);
  }
}

/**
 * Wildcards of many parts each, as long together as a request may have them, tried on every event to the end of its url, which has each of
 * the parts: six of them take ten seconds on the quicker store, so that none is done before the last has begun.
 */
function heavySearch(): string {
  const value = Array.from({ length: 50 }, (_, index) => `*${'a*b*'.repeat(40 + index)}/a*`);
  return lastHour({ filters: [{ field: 'url', op: 'wildcard', value }], groupBy: ['url', 'ua'], buckets: 500, pageSize: 500 });
}

/** The last part of the path of each route that answers searches whole. */
const ROUTES = ['search', 'explore'] as const;

type Route = (typeof ROUTES)[number];

/** How the store's searches end, by the name of the error or `found`; the answer to the client may come before that. */
function watchStore(): { readonly ends: readonly string[]; begun(): number } {
  const ends: string[] = [];
  let begun = 0;
  const watched =
    <Plan, Result>(ask: (plan: Plan, options?: SearchOptions) => Promise<Result>) =>
    (plan: Plan, options?: SearchOptions): Promise<Result> => {
      begun += 1;
      const result = ask(plan, options);
      result.then(
        () => ends.push('found'),
        (error: Error) => ends.push(error.name),
      );
      return result;
    };
  app.store.search = watched(app.store.search.bind(app.store));
  app.store.explore = watched(app.store.explore.bind(app.store));
  return { ends, begun: () => begun };
}

const outcomes = async (route: Route, outcome: string): Promise<number> => {
  const { text } = await ask(app, '/metrics');
  const output = { search: 'groups', explore: 'explore' }[route];
  return Number(
    new RegExp(`^shieldlog_search_seconds_count\\{output="${output}",outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
  );
};

describe('a search', () => {
  test.each(ROUTES)('past its deadline is interrupted and answered 503 with Retry-After: %s', async (route) => {
    app = await startApp({ env: { QUERY_DEADLINE_MS: '50' } });
    await fill();
    const { ends } = watchStore();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: heavySearch() };
    const { status, headers, body } = await ask(app, `/shield/event-logs/7/${route}`, init);
    expect([status, body.errorKey, headers.get('content-type')]).toEqual([
      503,
      'search.deadline',
      'application/problem+json; charset=utf-8',
    ]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body.detail).toContain('within 50 ms');
    expect(await outcomes(route, 'deadline')).toBe(1);
    await eventually('the store is done with it', () => ends.length > 0);
    expect(ends).toEqual(['DeadlinePassed']);
  });

  test.each(ROUTES)('whose client hangs up is interrupted, and the program goes on: %s', async (route) => {
    app = await startApp();
    await fill();
    const { ends, begun } = watchStore();
    const body = heavySearch();
    const sockets = Array.from({ length: 6 }, () => connect(Number(new URL(app.url).port), '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) {
      socket.write(
        `POST /shield/event-logs/7/${route} HTTP/1.1\r\nHost: localhost\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }
    await eventually('the searches have begun', () => begun() === 6);
    for (const socket of sockets) socket.destroy();
    await eventually('every one of the six was interrupted', async () => (await outcomes(route, 'hung_up')) === 6);
    await eventually('the store is done with them', () => ends.length === 6);
    expect(ends).toEqual(Array(6).fill('ClientHungUp'));
    expect((await search(app, lastHour({ query: 'nothing like it' }))).body.total).toBe(0);
    expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test('that fails through no fault of the caller is answered 500 without a body, and logged', async () => {
    app = await startApp();
    const defect = new Error('a defect');
    app.store.search = () => Promise.reject(defect);
    const { status, headers, text } = await search(app, lastHour());
    expect([status, text, headers.get('content-type')]).toEqual([500, '', null]);
    const [entry] = app.log.filter(({ msg }) => msg === 'a request failed');
    expect(entry).toMatchObject({ method: 'POST', path: '/shield/event-logs/7/search', err: { message: 'a defect' } });
  });

  test('is answered 503 once the store is closed', async () => {
    app = await startApp();
    await app.store.close();
    const { status, headers, body } = await search(app, lastHour());
    expect([status, body.errorKey, headers.get('retry-after')]).toEqual([503, 'program.stopping', '5']);
  });
});

describe('a connection', () => {
  async function sendRaw(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(bytes);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer;
  }

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', '400 Bad Request', 'request.malformed'],
    [
      'headers of 20 KiB',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
      'header.too_large',
    ],
  ])('that sends %s is told so in ProblemDetails', async (_what, bytes, statusLine, errorKey) => {
    app = await startApp();
    const [head = '', body = ''] = (await sendRaw(bytes)).split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${statusLine}`);
    expect(head).toContain('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ errorKey });
  });
});
