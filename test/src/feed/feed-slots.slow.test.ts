import fastify from 'fastify';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { access } from '../../../src/auth/access.ts';
import { MAX_READERS, MAX_WAITING_READERS } from '../../../src/feed/feed-slots.ts';
import { createMetrics } from '../../../src/http/metric-registry.ts';
import { feedRoutes } from '../../../src/routes/feed.ts';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type Answer, ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

const feed = (query = ''): Promise<Answer> => ask(app, `/shield/event-logs/7/feed${query}`);

const slotsIn = (metrics: string): readonly number[] =>
  ['readers', 'waiting'].map((name) => Number(new RegExp(`^shieldlog_feed_${name} (\\d+)$`, 'm').exec(metrics)?.[1]));

/** Returns the numbers of readers and of waiting requests in `/metrics`. */
async function slotsTaken(of: Pick<RunningApp, 'url'> = app): Promise<readonly number[]> {
  const { text } = await ask(of, '/metrics');
  return slotsIn(text);
}

async function expectBusy(answer: Promise<Answer>): Promise<void> {
  const { status, headers, text } = await answer;
  expect(status, text).toBe(503);
  expect([JSON.parse(text).errorKey, headers.get('retry-after')]).toEqual(['store.busy', '5']);
}

test(`${MAX_READERS} read at once; one more is told when to try again, and served when one is through`, async () => {
  const readFeed = app.store.readFeed.bind(app.store);
  const letGo = Promise.withResolvers<void>();
  app.store.readFeed = async (request, options) => {
    await letGo.promise;
    return readFeed(request, options);
  };
  const readers = Array.from({ length: MAX_READERS }, () => feed());
  await eventually('all of them read', async () => (await slotsTaken())[0] === MAX_READERS);
  await expectBusy(feed());
  await expectBusy(feed('?wait=30'));
  letGo.resolve();
  expect((await Promise.all(readers)).map(({ status }) => status)).toEqual(readers.map(() => 200));
  await eventually('nobody reads', async () => (await slotsTaken()).join() === '0,0');
  expect((await feed()).status).toBe(200);
});

test(`${MAX_WAITING_READERS} wait at once and hinder nobody; one more is told when to try again; all get what they wait for`, async () => {
  const waiting: Promise<Answer>[] = [];
  while (waiting.length < MAX_WAITING_READERS) {
    waiting.push(...Array.from({ length: MAX_READERS / 2 }, () => feed('?wait=30')));
    await eventually('they wait', async () => (await slotsTaken()).join() === `0,${waiting.length}`);
  }
  await expectBusy(feed('?wait=30'));
  expect((await feed()).status).toBe(200);
  await ingest(app, eventLine({ logId: 'wanted' }));
  const answers = await Promise.all(waiting);
  expect(answers.filter(({ status, text }) => status === 200 && text.includes('"wanted"')).length).toBe(MAX_WAITING_READERS);
  await eventually('nobody waits', async () => (await slotsTaken()).join() === '0,0');
});

test('a client that keeps its answer and reads nothing of it loses its slot', async () => {
  const text = 'text of an event '.repeat(800);
  await ingest(app, Array.from({ length: 2_000 }, (_, index) => eventLine({ logId: `e${index}`, log: { text } })).join(''));
  const impatient = fastify();
  onTestFinished(() => impatient.close());
  const metrics = createMetrics({ store: app.store, kafka: null });
  await impatient.register(access, { keys: [], publicUrl: null });
  await impatient.register(feedRoutes, {
    store: app.store,
    reads: { of: () => app.store },
    turns: new MainThreadTurns(),
    metrics,
    queryDeadlineMs: 2_000,
    idleMs: 1_000,
  });
  impatient.get('/metrics', () => metrics.registry.metrics());
  const url = await impatient.listen({ host: '127.0.0.1', port: 0 });
  const response = await fetch(`${url}/shield/event-logs/7/feed`, { headers: { 'accept-encoding': 'identity' } });
  expect(response.status).toBe(200);
  // Asked of the program itself: a request might take longer than the reader may be idle.
  expect(slotsIn(await metrics.registry.metrics())).toEqual([1, 0]);
  await eventually('its slot is free', async () => (await slotsTaken({ url })).join() === '0,0');
  await expect(response.text()).rejects.toThrow();
});
