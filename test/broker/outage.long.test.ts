import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { alteredStore } from './altered-store.ts';
import { eventMessage, writeEventFile } from './event-file.ts';
import { produceFile } from './foreign-producer.ts';
import { type KafkaBroker, startBroker } from './kafka-broker.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const EVENTS = 60_000;

describe('a broker that is killed and comes back', () => {
  let broker: KafkaBroker;
  beforeAll(async () => {
    broker = await startBroker();
  });
  afterAll(() => broker.stop());

  it('is missed in /readyz, found again, and read on from without loss or repetition', async () => {
    const topic = uniqueName('outage');
    await createTopic(broker.address, topic, 2);
    const store = await storeIn(temporaryFolder());
    const source = sourceUnderTest({ store, topics: [topic], brokers: broker.address });
    await sendValues(await ownProducer(broker.address), topic, [eventMessage('before')]);
    await untilStored(store, 1);
    await untilReady(source);

    await broker.crash();
    await until(
      'the source to miss the broker',
      () => source.reasonsNotReady(),
      (reasons) => reasons.join().includes('broker'),
    );
    await until(
      'another attempt',
      () => source.counters().reconnects,
      (reconnects) => reconnects > 0,
    );

    await broker.revive();
    await sendValues(await ownProducer(broker.address), topic, [eventMessage('after')], 1);
    await untilStored(store, 2);
    await untilReady(source);
    expect(await searchedIds(store)).toEqual(['after', 'before']);
    expect(source.counters().outOfRangeOffsets).toBe(0);
  });

  it('in the middle of a backlog costs none of it', async () => {
    const topic = uniqueName('outage');
    await createTopic(broker.address, topic, 3);
    const file = join(temporaryFolder(), 'events.ndjson');
    const ids = (await writeEventFile(file, EVENTS, 31)).sort();
    await produceFile(broker.address, topic, file, 'snappy');
    const store = await storeIn(temporaryFolder());
    const crashed = Promise.withResolvers<void>();
    let appends = 0;
    const waiting = alteredStore(store, {
      append: async (batch) => {
        appends += 1;
        if (appends > 1) {
          await crashed.promise;
        }
        return await store.append(batch);
      },
    });
    const source = sourceUnderTest({ store: waiting, topics: [topic], brokers: broker.address });
    await untilStored(store, 1);
    await broker.crash();
    expect((await store.stats()).events).toBeLessThan(EVENTS);
    crashed.resolve();
    await broker.revive();
    await untilStored(store, EVENTS);
    await source.stop();
    expect(await searchedIds(store)).toEqual(ids);
    expect(await store.stats()).toMatchObject({ events: EVENTS, duplicateEvents: 0 });
    expect(source.counters().outOfRangeOffsets).toBe(0);
  });

  it('that was not there when the source started is found once it is up', async () => {
    const topic = uniqueName('outage');
    await createTopic(broker.address, topic, 1);
    await sendValues(await ownProducer(broker.address), topic, [eventMessage('waiting')]);
    await broker.crash();
    const store = await storeIn(temporaryFolder());
    const source = sourceUnderTest({ store, topics: [topic], brokers: broker.address });
    await until(
      'a second attempt',
      () => source.counters().reconnects,
      (reconnects) => reconnects > 1,
    );
    expect(source.reasonsNotReady()).not.toEqual([]);
    await broker.revive();
    await untilStored(store, 1);
    await untilReady(source);
  });
});
