import fastify from 'fastify';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { access } from '../../../src/auth/access.ts';
import { READERS_AT_ONCE, WAITING_AT_ONCE } from '../../../src/feed/feed-places.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { feedRoutes } from '../../../src/routes/feed.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type Answer, ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

const feed = (query = ''): Promise<Answer> => ask(app, `/shield/event-logs/7/feed${query}`);

/** Readers and those who wait, as `/metrics` shows them. */
async function places(of: Pick<RunningApp, 'url'> = app): Promise<readonly number[]> {
  const { text } = await ask(of, '/metrics');
  return ['readers', 'waiting'].map((name) => Number(new RegExp(`^shieldlog_feed_${name} (\\d+)$`, 'm').exec(text)?.[1]));
}

async function expectBusy(answer: Promise<Answer>): Promise<void> {
  const { status, headers, text } = await answer;
  expect(status, text).toBe(503);
  expect([JSON.parse(text).errorKey, headers.get('retry-after')]).toEqual(['store.busy', '5']);
}

test(`${READERS_AT_ONCE} read at once; one more is told when to try again, and served when one is through`, async () => {
  const readFeed = app.store.readFeed.bind(app.store);
  const letGo = Promise.withResolvers<void>();
  app.store.readFeed = async (request, options) => {
    await letGo.promise;
    return readFeed(request, options);
  };
  const readers = Array.from({ length: READERS_AT_ONCE }, () => feed());
  await eventually('all of them read', async () => (await places())[0] === READERS_AT_ONCE);
  await expectBusy(feed());
  await expectBusy(feed('?wait=30'));
  letGo.resolve();
  expect((await Promise.all(readers)).map(({ status }) => status)).toEqual(readers.map(() => 200));
  await eventually('nobody reads', async () => (await places()).join() === '0,0');
  expect((await feed()).status).toBe(200);
});

test(`${WAITING_AT_ONCE} wait at once and are in nobody's way; one more is told when to try again; all get what they wait for`, async () => {
  const waiting: Promise<Answer>[] = [];
  while (waiting.length < WAITING_AT_ONCE) {
    waiting.push(...Array.from({ length: READERS_AT_ONCE / 2 }, () => feed('?wait=30')));
    await eventually('they wait', async () => (await places()).join() === `0,${waiting.length}`);
  }
  await expectBusy(feed('?wait=30'));
  expect((await feed()).status).toBe(200);
  await ingest(app, eventLine({ logId: 'wanted' }));
  const answers = await Promise.all(waiting);
  expect(answers.filter(({ status, text }) => status === 200 && text.includes('"wanted"')).length).toBe(WAITING_AT_ONCE);
  await eventually('nobody waits', async () => (await places()).join() === '0,0');
});

test('a client that keeps its answer and reads nothing of it loses its place', async () => {
  const text = 'text of an event '.repeat(800);
  await ingest(app, Array.from({ length: 2_000 }, (_, index) => eventLine({ logId: `e${index}`, log: { text } })).join(''));
  const impatient = fastify();
  onTestFinished(() => impatient.close());
  const metrics = createMetrics({ store: app.store, kafka: null });
  await impatient.register(access, { keys: [], host: '127.0.0.1' });
  await impatient.register(feedRoutes, { store: app.store, metrics, queryDeadlineMs: 2_000, idleMs: 1_000 });
  impatient.get('/metrics', () => metrics.registry.metrics());
  const url = await impatient.listen({ host: '127.0.0.1', port: 0 });
  const response = await fetch(`${url}/shield/event-logs/7/feed`, { headers: { 'accept-encoding': 'identity' } });
  expect(response.status).toBe(200);
  expect(await places({ url })).toEqual([1, 0]);
  await eventually('its place is free', async () => (await places({ url })).join() === '0,0');
  await expect(response.text()).rejects.toThrow();
});
