import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from 'vitest';
import { patchKafkajs } from '../../../ingest/kafka/kafkajs-patches.ts';
import { decodeMetadata, listTopics } from '../../../ingest/kafka/topic-metadata.ts';

/** Answers of one broker of Kafka 4 about all its topics, and about one that it does not have, without the header's correlation id. */
const RECORDED = {
  allInVersion12:
    'AAAAAAACAAAAAQoxMjcuMC4wLjEAAKG3AAAXTWtVM09FVkJOVGN3TlRKRU5ETTJRZwAAAAEDAAAGb3RoZXLqI0mdmoZDBIBZAIRAFltHAAIAAAAAAAAAAAABAAAAAAIAAAAB' +
    'AgAAAAEBAIAAAAAAAAAOc2hpZWxkLWV2ZW50c55A9fgGiUrGj4YRMtuoJvYAAwAAAAAAAAAAAAEAAAAAAgAAAAECAAAAAQEAAAAAAAABAAAAAQAAAAACAAAAAQIAAAABAQCA' +
    'AAAAAAA=',
  allInVersion6:
    'AAAAAAAAAAEAAAABAAkxMjcuMC4wLjEAAKG3//8AFk1rVTNPRVZCTlRjd05USkVORE0yUWcAAAABAAAAAgAAAAVvdGhlcgAAAAABAAAAAAAAAAAAAQAAAAEAAAABAAAAAQAA' +
    'AAEAAAAAAAAADXNoaWVsZC1ldmVudHMAAAAAAgAAAAAAAAAAAAEAAAABAAAAAQAAAAEAAAABAAAAAAAAAAAAAQAAAAEAAAABAAAAAQAAAAEAAAABAAAAAA==',
  absentInVersion12: 'AAAAAAACAAAAAQoxMjcuMC4wLjEAAKG3AAAXTWtVM09FVkJOVGN3TlRKRU5ETTJRZwAAAAECAAMHYWJzZW50AAAAAAAAAAAAAAAAAAAAAAABgAAAAAAA',
};
const IDS = new Map([
  ['other', '6iNJnZqGQwSAWQCEQBZbRw'],
  ['shield-events', 'nkD1-AaJSsaPhhEy26gm9g'],
]);

type Metadata = ReturnType<typeof decodeMetadata>;

interface Protocol {
  readonly request: { readonly apiVersion: number; encode(): Promise<{ readonly buffer: Buffer }> };
  readonly response: { decode(bytes: Buffer): Promise<Metadata>; parse(answer: Metadata): Promise<Metadata> };
}

const requireKafkajs = createRequire(import.meta.url);
const { lookup, requests } = requireKafkajs('kafkajs/src/protocol/requests') as {
  lookup(versions: object): (key: number, definition: object) => (request: object) => Protocol;
  requests: { readonly Metadata: object };
};

/** What kafkajs sends to a broker whose newest version of Metadata is this one. */
function protocolFor(maxVersion: number, request: object = { topics: [] }): Protocol {
  return lookup({ 3: { minVersion: 0, maxVersion } })(3, requests.Metadata)(request);
}

async function decoded(recorded: string, version: number): Promise<Metadata> {
  return await protocolFor(version).response.decode(Buffer.from(recorded, 'base64'));
}

/** An admin client that gets this answer. */
const adminWith = ({ topicMetadata }: Metadata) => ({
  fetchTopicMetadata: async () => ({
    topics: topicMetadata.map(({ topic, partitionMetadata }) => ({ name: topic ?? '', partitions: partitionMetadata })),
  }),
});

beforeAll(() => {
  patchKafkajs();
  patchKafkajs();
});

it.each([
  [13, 12],
  [12, 12],
  [11, 6],
  [9, 6],
  [7, 6],
  [6, 6],
  [5, 5],
  [1, 1],
])('a broker that speaks Metadata up to version %i is asked in version %i', (newest, asked) => {
  expect(protocolFor(newest).request.apiVersion).toBe(asked);
});

describe('the request', () => {
  it.each([
    ['for all topics', { topics: [], allowAutoTopicCreation: false }, '00 00 00 00 00'],
    ['that may make topics', { topics: [] }, '00 00 01 00 00'],
    [
      'for two topics',
      { topics: ['ab', 'c'], allowAutoTopicCreation: false },
      `00 03 ${'00 '.repeat(16)}03 61 62 00 ${'00 '.repeat(16)}02 63 00 00 00 00`,
    ],
  ])('%s has these bytes', async (_what, request, bytes) => {
    const { buffer } = await protocolFor(12, request).request.encode();
    expect(buffer.toString('hex')).toBe(bytes.replaceAll(' ', ''));
  });
});

describe('a recorded answer', () => {
  it('says what version 6 says, and the ids of the topics', async () => {
    const [newer, older] = [await decoded(RECORDED.allInVersion12, 12), await decoded(RECORDED.allInVersion6, 6)];
    const withIds = older.topicMetadata.map((topic) => ({
      ...topic,
      partitionMetadata: topic.partitionMetadata.map((partition) => ({ ...partition, topicId: IDS.get(topic.topic ?? '') })),
    }));
    expect(newer).toEqual({ ...older, topicMetadata: withIds });
    expect(await listTopics(adminWith(newer))).toEqual(IDS);
    expect(await listTopics(adminWith(older))).toEqual(new Map([...IDS.keys()].map((topic) => [topic, undefined])));
  });

  it('of a topic that does not exist fails as it does in version 6', async () => {
    const answer = await decoded(RECORDED.absentInVersion12, 12);
    await expect(protocolFor(12).response.parse(answer)).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' });
  });

  it('with fields of later versions is read past them', () => {
    const bytes = Buffer.from(RECORDED.absentInVersion12, 'base64');
    // Two fields in place of none: one of 3 bytes, and one of 130.
    const fields = Buffer.concat([Buffer.from([2, 0, 3, 0x61, 0x62, 0x63, 1, 0x82, 1]), Buffer.alloc(130, 0x7a)]);
    const tagged = Buffer.concat([fields, bytes.subarray(1)]);
    expect(decodeMetadata(tagged)).toEqual(decodeMetadata(bytes));
  });

  it.each(Array.from({ length: 12 }, (_, index) => index * 15))('that is cut off after %i bytes is an error', (length) => {
    expect(() => decodeMetadata(Buffer.from(RECORDED.allInVersion12, 'base64').subarray(0, length))).toThrow(RangeError);
  });
});

it('a topic without an id, and one without partitions, has none', async () => {
  const bytes = Buffer.from(RECORDED.allInVersion12, 'base64');
  const id = Buffer.from(IDS.get('other') ?? '', 'base64url');
  bytes.fill(0, bytes.indexOf(id), bytes.indexOf(id) + id.length);
  const [other, events] = [undefined, IDS.get('shield-events')];
  expect(await listTopics(adminWith(decodeMetadata(bytes)))).toEqual(
    new Map([
      ['other', other],
      ['shield-events', events],
    ]),
  );
  expect(await listTopics({ fetchTopicMetadata: async () => ({ topics: [{ name: 't', partitions: [] }] }) })).toEqual(
    new Map([['t', undefined]]),
  );
});
