import { createRequire } from 'node:module';
import { beforeAll, expect, it } from 'vitest';
import { patchKafkajs } from '../../../ingest/kafka/kafkajs-patches.ts';
import type { FetchedMessage } from '../../../ingest/kafka/record-set.ts';
import { builtBatch, builtFetchAnswer, CODEC, inHalves, PACK, readAll } from './built-batch.ts';

const requireKafkajs = createRequire(import.meta.url);

interface FetchAnswer {
  readonly responses: readonly { readonly partitions: readonly { readonly messages: readonly FetchedMessage[] }[] }[];
}

beforeAll(patchKafkajs);

it('kafkajs decodes a fetch by our decoder', async () => {
  const { decode } = requireKafkajs('kafkajs/src/protocol/requests/fetch/v11/response') as { decode(bytes: Buffer): Promise<FetchAnswer> };
  const sets = [
    builtBatch({ records: Array.from({ length: 130_000 }, () => ({ value: Buffer.from('x') })), codec: CODEC.zstd, pack: PACK.zstd }),
    builtBatch({ records: [{ value: Buffer.from('y') }], codec: CODEC.zstd, pack: inHalves(PACK.zstd) }),
    Buffer.alloc(0),
  ];
  const { responses } = await decode(
    builtFetchAnswer(
      'events',
      sets.map((set) => ({ set })),
    ),
  );
  const partitions = responses[0]?.partitions ?? [];
  expect(partitions.map(({ messages }) => messages.length)).toEqual([1, 1, 0]);
  expect(partitions.map(({ messages }) => readAll(messages).records.length)).toEqual([130_000, 1, 0]);
});

it('a batch that the broker finds damaged, or that cannot be decoded, is the fault of its partition alone', async () => {
  patchKafkajs();
  const { decode, parse } = requireKafkajs('kafkajs/src/protocol/requests/fetch/v11/response') as {
    decode(bytes: Buffer): Promise<FetchAnswer>;
    parse(answer: FetchAnswer): Promise<FetchAnswer>;
  };
  const good = builtBatch({ records: [{ value: Buffer.from('y') }] });
  const partitions = [{ set: good }, { set: Buffer.alloc(0), errorCode: 2 }, { set: builtBatch({ records: [], crc: 1 }) }];
  const { responses } = await parse(await decode(builtFetchAnswer('events', partitions)));
  expect(
    responses[0]?.partitions.map(({ messages }) => [
      ...readAll(messages).records.map(({ value }) => value),
      readAll(messages).fault?.reason,
    ]),
  ).toEqual([
    ['y', undefined],
    ['is damaged where the broker keeps it (CORRUPT_MESSAGE)'],
    [expect.stringMatching(/^is damaged: its CRC-32C is /)],
  ]);
  await expect(decode(builtFetchAnswer('events', [{ set: Buffer.alloc(0), errorCode: 3 }])).then(parse)).rejects.toThrow('topic-partition');
});

interface Queue {
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  maybeThrottle(ms: number): void;
  checkPendingRequests(): void;
  destroy(): void;
}

const RequestQueue = requireKafkajs('kafkajs/src/network/requestQueue') as new (options: object) => Queue;

it('kafkajs arms its throttle timer only when it is throttled, and never with a negative delay', () => {
  patchKafkajs();
  patchKafkajs();
  const silent = () => silentLog;
  const silentLog = { namespace: silent, debug: silent };
  const queue = new RequestQueue({ requestTimeout: 1000, clientId: 'test', broker: 'test:1', logger: silentLog, isConnected: () => true });
  try {
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).toBeNull();
    queue.maybeThrottle(60_000);
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
  } finally {
    queue.destroy();
  }
});

interface Group {
  readonly coordinator: object;
  readonly memberId: string;
  lastRequest: number;
  heartbeat(request: { readonly interval: number }): Promise<void>;
}

const ConsumerGroup = requireKafkajs('kafkajs/src/consumer/consumerGroup') as new (options: object) => Group;

it('kafkajs sends a heartbeat once an interval is over, also where the clock was set back since the last one', async () => {
  let beats = 0;
  const heartbeat = async () => {
    beats += 1;
  };
  const logger = { namespace: () => ({}) };
  const members = { cluster: {}, topics: [], topicConfigurations: {}, assigners: [], logger, instrumentationEmitter: { emit: () => {} } };
  const group = Object.assign(new ConsumerGroup({ ...members, groupId: 'test' }), { coordinator: { heartbeat }, memberId: 'member' });
  const interval = 3_000;
  await group.heartbeat({ interval });
  expect(beats).toBe(0);
  group.lastRequest -= interval;
  await group.heartbeat({ interval });
  expect(beats).toBe(1);
  // As after a step back by an hour.
  group.lastRequest += 3_600_000;
  await group.heartbeat({ interval });
  expect(beats).toBe(2);
  expect(group.lastRequest).toBeLessThanOrEqual(Date.now());
  await group.heartbeat({ interval });
  expect(beats).toBe(2);
});
