import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, inject, it } from 'vitest';
import { generateEvents } from '../../bench/events/event-generator.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { logIdOf, ZONE } from './event-file.ts';
import { produceLines } from './foreign-producer.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { startProgramProcess, totalOverHttp } from './program-under-test.ts';
import { searchedIds } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const EVENTS = 40_000;

it('what a topic holds is searchable, each event once, over a kill while it is read', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('main-path');
  await createTopic(brokers, topic, 3);
  const lines = [...generateEvents({ seed: 7, count: EVENTS, zones: 1, nowMs: Date.now(), spanMs: 71 * 3_600_000 })];
  const ids = lines.map(logIdOf);
  const produce = (from: number, to: number) => produceLines(brokers, topic, Readable.from(lines.slice(from, to)), 'zstd');
  const dataDir = join(temporaryFolder(), 'data');
  const start = () =>
    startProgramProcess({ DATA_DIR: dataDir, MEMORY_LIMIT_MB: '512', KAFKA_BROKERS: brokers, KAFKA_TOPICS: topic, KAFKA_GROUP_ID: topic });

  await produce(0, EVENTS / 2);
  const killed = start();
  const first = await killed.address;
  const producing = produce(EVENTS / 2, EVENTS);
  await until(
    'some events',
    () => totalOverHttp(first, ZONE),
    (total) => total > 0,
  );
  expect(await killed.kill('SIGKILL')).toBe('SIGKILL');
  await producing;
  await sendValues(await ownProducer(), topic, [Buffer.from('no event')]);

  const program = start();
  const address = await program.address;
  await until(
    'all events',
    () => totalOverHttp(address, ZONE),
    (total) => total >= EVENTS,
  );
  await until(
    'the letter of what is no event',
    async () => (await fetch(`${address}/ingest/dead-letters`)).json(),
    (answer) => JSON.stringify(answer).includes('not JSON'),
  );
  expect(await program.kill('SIGTERM'), program.log()).toBe(0);
  const store = await storeIn(dataDir);
  expect(await searchedIds(store)).toEqual(ids.sort());
  expect((await store.stats()).duplicateEvents).toBe(0);
});
