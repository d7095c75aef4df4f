import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  for (const zone of [7, 8, 9]) {
    await ingest(app, Array.from({ length: 5 }, (_, index) => eventLine({ logId: `${zone}-${index}`, shieldZoneId: zone })).join(''));
  }
});

afterAll(() => app.stop());

interface Feed {
  readonly ids: readonly string[];
  readonly last: { readonly cursor: string; readonly more: boolean; readonly count: number };
}

function feedOf(text: string): Feed {
  const lines = text.trimEnd().split('\n');
  const last = JSON.parse(lines.pop() ?? '');
  return { ids: lines.map((line) => JSON.parse(line).logId), last };
}

const path = (zones: string, query = '') => `/shield/event-logs/${zones}/feed${query}`;

async function feed(zones: string, query = '', headers: Readonly<Record<string, string>> = {}): Promise<Feed> {
  const { status, text } = await ask(app, path(zones, query), { headers });
  expect(status, text).toBe(200);
  return feedOf(text);
}

describe('the feed', () => {
  test.each([
    ['of one zone', '8', /^8-/, 5],
    ['of several', '9,7', /^[79]-/, 10],
    ['of all', 'all', /-/, 15],
    ['of one nobody sent events for', '123', /-/, 0],
  ])('%s has its events, and a cursor that goes on behind them', async (_, zones, expected, count) => {
    const { ids, last } = await feed(zones);
    expect(ids).toHaveLength(count);
    for (const id of ids) expect(id).toMatch(expected);
    expect(last).toEqual({ cursor: expect.stringMatching(/^[\w-]{28}$/), more: false, count });
    expect((await feed(zones, `?cursor=${last.cursor}`)).ids).toEqual([]);
  });

  test('comes in pages of the limit', async () => {
    const pages: string[][] = [];
    for (let cursor = ''; ; ) {
      const { ids, last } = await feed('all', `?limit=4${cursor}`);
      pages.push([...ids]);
      cursor = `&cursor=${last.cursor}`;
      if (!last.more) break;
    }
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 4, 3]);
    expect(new Set(pages.flat()).size).toBe(15);
  });

  test.each([
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const)('can be packed with %s', async (encoding, unpack) => {
    const { headers, rawBody } = await rawAsk(path('all'), { 'accept-encoding': encoding });
    expect(headers.get('content-encoding')).toBe(encoding);
    expect(feedOf(unpack(rawBody).toString()).last.count).toBe(15);
  });
});

async function rawAsk(url: string, headers: Readonly<Record<string, string>>) {
  const { request } = await import('node:http');
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly headers: Headers; readonly rawBody: Buffer }>();
  request(`${app.url}${url}`, { headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => {
      resolve({ headers: new Headers(response.headers as Record<string, string>), rawBody: Buffer.concat(chunks) });
    });
    response.on('error', reject);
  })
    .on('error', reject)
    .end();
  return await promise;
}
