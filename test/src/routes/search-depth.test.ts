import { DuckDBConnection } from '@duckdb/node-api';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { StoreTuning } from '../../../store/embedded/store-options.ts';
import { type Answer, ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

/** The most functions from the handler of a route to DuckDB, those without a name included. */
const MOST = 14;

const TO = Date.now();

/** For each statement since the test began, the functions of the program that lead to it. */
let ways: string[][] = [];

beforeEach(() => {
  const { prototype } = DuckDBConnection;
  const { run, stream } = prototype;
  const { stackTraceLimit } = Error;
  const note = () => {
    const frames = (new Error('here').stack ?? '').split('\n');
    ways.push(frames.filter((frame) => /\/(src|store|work)\/\S+\.ts/.test(frame) && !/\/(test|node_modules)\//.test(frame)));
  };
  prototype.run = function (...statement) {
    note();
    return run.apply(this, statement);
  };
  prototype.stream = function (...statement) {
    note();
    return stream.apply(this, statement);
  };
  Error.stackTraceLimit = 100;
  onTestFinished(() => {
    Object.assign(prototype, { run, stream });
    Error.stackTraceLimit = stackTraceLimit;
  });
});

/** An app with flushed events of many addresses and urls. */
async function appWithEvents(storeOptions: StoreTuning): Promise<RunningApp> {
  const app = await startApp({ storeOptions: { backgroundJobsEveryMs: 3_600_000, ...storeOptions } });
  onTestFinished(() => app.stop());
  const lines = Array.from({ length: 400 }, (_, index) =>
    eventLine({ logId: `e${index}`, timestamp: TO - index, ip: `192.0.2.${index % 90}`, url: `/${Math.max(index, 5)}` }),
  );
  await ingest(app, lines.join(''));
  await app.store.settle('flush');
  return app;
}

function post(app: RunningApp, what: string, rest: object): Promise<Answer> {
  const body = JSON.stringify({ from: TO - 3_600_000, to: TO + 1, ...rest });
  return ask(app, `/shield/event-logs/7/${what}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

const rows = (app: RunningApp) => post(app, 'search', { to: TO - 100, pageSize: 5 });
const groups = (app: RunningApp) => post(app, 'search', { groupBy: ['url'], buckets: 5 });
const facets = (app: RunningApp) =>
  post(app, 'explore', { facets: [{ field: 'url', order: 'difference', limit: 5 }], selection: { from: TO - 200 } });
const groupsAndCount = (app: RunningApp) => post(app, 'explore', { groupBy: ['ip'], facets: [{ field: 'ip' }] });

const NOT_KEPT = { filtered: 0, otherwise: 0, singletons: { events: 0, share: 0.5 } };
const APART = { values: 10, urls: 10, together: 100, listed: 0, listBytes: 1e6, valueBytes: 1e6 };

test.each<[string, (app: RunningApp) => Promise<Answer>, StoreTuning, string]>([
  ['a page of rows', rows, {}, 'countBySlot'],
  ['groups at once', groups, {}, 'groupAtOnce'],
  ['groups in two phases', groups, { maxKept: NOT_KEPT }, 'areMostlySingletons'],
  ['groups that are to be cached', groups, {}, 'fillGroupByCache'],
  ['the facts of a page of cached groups', groups, {}, 'readGroups'],
  ['facets whose values are counted one by one', facets, { valueCountLimits: APART }, 'countsOf'],
  ['a question with a page of cached groups', groupsAndCount, {}, 'fillGroupByCache'],
])('no statement of a search is far from its route: %s', async (_, search, tuning, through) => {
  const app = await appWithEvents(tuning);
  ways = [];
  for (let time = 0; time < 2; time += 1) {
    expect((await search(app)).status).toBe(200);
  }
  const longest = ways.toSorted((a, b) => b.length - a.length)[0] ?? [];
  expect(longest.at(-1)).toMatch(/\/src\/routes\//);
  expect(longest.length, longest.join('\n')).toBeLessThanOrEqual(MOST);
  expect(ways.filter((way) => way.some((frame) => frame.includes(` ${through} `)))).not.toEqual([]);
});
