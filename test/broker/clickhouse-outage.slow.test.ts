import { join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { openClickhouseStore } from '../../store/clickhouse/open-store.ts';
import { ownServer } from '../clickhouse/engine.ts';
import { BreakableProxy } from '../clickhouse/server/breakable-proxy.ts';
import { RETENTION_MS, temporaryFolder } from '../fixtures/temporary-store.ts';
import { writeEventFile } from './event-file.ts';
import { produceFile } from './foreign-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const EVENTS = 20_000;

it('Kafka waits while ClickHouse is away, and goes on by itself: nothing is lost, nothing repeated', async () => {
  const server = await BreakableProxy.open((await ownServer()).url);
  onTestFinished(() => server.close());
  const address = { urls: [server.url], user: 'default', password: '', database: 'kafka_events' };
  const store = await openClickhouseStore({ address, retentionMs: RETENTION_MS, now: Date.now });
  onTestFinished(() => store.close());
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('away');
  await createTopic(brokers, topic, 3);
  await server.goAway();
  const file = join(temporaryFolder(), 'events.ndjson');
  const ids = (await writeEventFile(file, EVENTS, 78)).sort();
  await produceFile(brokers, topic, file, 'none');
  const source = sourceUnderTest({ store, topics: [topic] });
  await until(
    'the source to wait for its offsets',
    () => source.reasonsNotReady().join(),
    (reasons) => reasons.includes('wait for their offsets to be checked'),
  );
  await server.comeBack();
  await untilStored(store, EVENTS);
  await untilReady(source);
  expect(await searchedIds(store)).toEqual(ids);
  expect((await store.stats()).events).toBe(EVENTS);
});
