import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { writeEventFile } from './event-file.ts';
import { CODECS, produceFile } from './foreign-producer.ts';
import { searchedIds, sourceUnderTest, untilStored } from './source-under-test.ts';
import { createTopic, deleteTopic, uniqueName } from './test-topic.ts';

const EVENTS = 60_000;

describe('events by a client that none of us wrote are found, each exactly once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shieldlog-events-'));
  const file = join(folder, 'events.ndjson');
  let ids: readonly string[] = [];

  beforeAll(async () => {
    ids = (await writeEventFile(file, EVENTS, 20_260_101)).sort();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(CODECS)(`${EVENTS} events in four partitions, codec %s`, async (codec) => {
    const brokers = inject('kafkaBrokers');
    const topic = uniqueName(`codec-${codec}`);
    await createTopic(brokers, topic, 4);
    await produceFile(brokers, topic, file, codec);
    const store = await storeIn(temporaryFolder());
    const source = sourceUnderTest({ store, topics: [topic] });
    await untilStored(store, EVENTS);
    await source.stop();
    expect(await searchedIds(store)).toEqual(ids);
    expect(await store.stats()).toMatchObject({ events: EVENTS, duplicateEvents: 0, deadLetters: 0 });
    expect(source.counters()).toMatchObject({ messages: EVENTS, outOfRangeOffsets: 0, reconnects: 0 });
    await deleteTopic(brokers, topic);
  });
});
