import type { Transaction } from 'kafkajs';
import { describe, expect, inject, it } from 'vitest';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { searchedIds, sourceUnderTest, untilReady, untilStored } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

it('reads what was committed and nothing that was aborted, and passes over the markers in between', async () => {
  const brokers = inject('kafkaBrokers');
  const topic = uniqueName('transactions');
  await createTopic(brokers, topic, 1);
  const producer = await ownProducer(brokers, uniqueName('transaction'));
  const send = async (logId: string, outcome: 'commit' | 'abort'): Promise<void> => {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ value: eventMessage(logId), partition: 0 }] });
    await transaction[outcome]();
  };
  await send('committed-0', 'commit');
  const store = await storeIn(temporaryFolder());
  const source = sourceUnderTest({ store, topics: [topic] });
  await untilStored(store, 1);
  for (const [logId, outcome] of [
    ['aborted-0', 'abort'],
    ['aborted-1', 'abort'],
    ['committed-1', 'commit'],
    ['aborted-2', 'abort'],
  ] as const) {
    await send(logId, outcome);
  }
  await untilStored(store, 2);
  // Each of the five transactions is a message and a marker.
  await until(
    'the source offset to pass the last marker',
    () => store.sourceOffset(topic, 0),
    (sourceOffset) => sourceOffset === 10n,
  );
  expect(await searchedIds(store)).toEqual(['committed-0', 'committed-1']);
  expect(source.counters().outOfRangeOffsets).toBe(0);
  expect(source.complaints).toEqual([]);

  // All at once, the last message and its marker in one fetch.
  await send('committed-2', 'commit');
  const fromTheStart = await storeIn(temporaryFolder());
  sourceUnderTest({ store: fromTheStart, topics: [topic] });
  await until(
    'the source offset to pass the last marker',
    () => fromTheStart.sourceOffset(topic, 0),
    (sourceOffset) => sourceOffset === 12n,
  );
  expect(await searchedIds(fromTheStart)).toEqual(['committed-0', 'committed-1', 'committed-2']);
});

it('a transaction that stays open for a minute is told, while the source is ready, until it ends', async () => {
  const topic = uniqueName('hanging');
  await createTopic(inject('kafkaBrokers'), topic, 2);
  const plain = await ownProducer();
  await sendValues(plain, topic, [eventMessage('before')], 0);
  const store = await storeIn(temporaryFolder());
  let shiftMs = 0;
  const source = sourceUnderTest({ store, topics: [topic], now: () => Date.now() + shiftMs });
  await untilStored(store, 1);
  const producer = await ownProducer(inject('kafkaBrokers'), uniqueName('transaction'));
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ value: eventMessage('in-it'), partition: 0 }] });
  await sendValues(plain, topic, [eventMessage('behind-it')], 0);
  await sendValues(plain, topic, [eventMessage('elsewhere')], 1);
  await untilStored(store, 2);
  await until('the source to see the end of the partition', () => source.lag() === 2);
  expect(source.hanging()).toEqual([]);
  shiftMs = 60_000;
  await until('the source to tell of the transaction', () => source.hanging().length > 0);
  expect(source.hanging()).toEqual([{ topic, partition: 0, offset: 1n, end: 3n, sinceMs: expect.any(Number) }]);
  await untilReady(source);
  expect(await searchedIds(store)).toEqual(['before', 'elsewhere']);
  expect(await store.sourceOffset(topic, 0)).toBe(1n);

  await transaction.commit();
  await untilStored(store, 4);
  await until('the source to have read all', () => source.hanging().length === 0 && source.lag() === 0);
  expect(await searchedIds(store)).toEqual(['before', 'behind-it', 'elsewhere', 'in-it']);
  expect(source.complaints).toEqual([]);
});

type Step = readonly [producer: number, step: 'event' | 'commit' | 'abort'];

/** Two batches of this size are more than one fetch of a partition brings. */
const LARGE_BODY = 'x'.repeat(600_000);
/** The key of an abort marker, which an event may have, too. */
const MARKER_KEY = Buffer.alloc(4);

interface Interleaving {
  readonly name: string;
  /** The steps of three producers' transactions, in this order; event 3 is that of the step with index 3. */
  readonly steps: readonly Step[];
  readonly committed: readonly number[];
  readonly body?: string;
  readonly key?: Buffer;
}

/** Takes the steps, each an offset of the partition: an event, or the marker at the end of a transaction. */
async function interleave(topic: string, { steps, body = '', key }: Interleaving): Promise<void> {
  const brokers = inject('kafkaBrokers');
  const producers = await Promise.all([0, 1, 2].map(() => ownProducer(brokers, uniqueName('transaction'))));
  const open = new Map<number, Transaction>();
  for (const [index, [producer, step]] of steps.entries()) {
    const transaction = open.get(producer) ?? (await producers[producer]?.transaction());
    if (transaction === undefined) throw new Error(`there is no producer ${producer}`);
    if (step === 'event') {
      open.set(producer, transaction);
      await transaction.send({
        topic,
        messages: [{ key: key ?? null, value: eventMessage(`event-${index}`, { log: { body } }), partition: 0 }],
      });
    } else {
      await transaction[step]();
      open.delete(producer);
    }
  }
}

describe('transactions of several producers: only committed events are read', () => {
  const cases: readonly Interleaving[] = [
    {
      name: 'where the one that begins later is aborted first',
      steps: [
        [0, 'event'],
        [1, 'event'],
        [2, 'event'],
        [1, 'abort'],
        [2, 'commit'],
        [0, 'event'],
        [0, 'abort'],
      ],
      committed: [2],
    },
    {
      name: 'where a fetch begins inside two that are aborted',
      body: LARGE_BODY,
      steps: [
        [0, 'event'],
        [1, 'event'],
        [2, 'event'],
        [1, 'event'],
        [0, 'abort'],
        [1, 'abort'],
        [2, 'commit'],
      ],
      committed: [2],
    },
    {
      name: 'where the events of one that is aborted have the key of an abort marker',
      key: MARKER_KEY,
      steps: [
        [0, 'event'],
        [0, 'event'],
        [1, 'event'],
        [0, 'abort'],
        [1, 'commit'],
      ],
      committed: [2],
    },
    {
      name: 'where a producer commits, aborts and commits again beside another',
      steps: [
        [0, 'event'],
        [1, 'event'],
        [0, 'commit'],
        [0, 'event'],
        [1, 'event'],
        [0, 'abort'],
        [0, 'event'],
        [1, 'abort'],
        [0, 'commit'],
      ],
      committed: [0, 6],
    },
  ];
  it.each(cases)('$name', async (interleaving) => {
    const topic = uniqueName('interleaved');
    await createTopic(inject('kafkaBrokers'), topic, 1);
    await interleave(topic, interleaving);
    const store = await storeIn(temporaryFolder());
    const source = sourceUnderTest({ store, topics: [topic] });
    await until(
      'the source offset to pass the last marker',
      () => store.sourceOffset(topic, 0),
      (sourceOffset) => sourceOffset === BigInt(interleaving.steps.length),
    );
    expect(await searchedIds(store)).toEqual(interleaving.committed.map((index) => `event-${index}`));
    expect(source.complaints).toEqual([]);
  });
});
