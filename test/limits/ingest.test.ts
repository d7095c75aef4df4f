import fastify from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import { LONGEST_ACTION_BYTES, MOST_BULK_ITEMS } from '../../ingest/doors/bulk.ts';
import { MOST_RECORDS } from '../../ingest/doors/envelope.ts';
import { MOST_FIREHOSE_RECORDS } from '../../ingest/doors/firehose.ts';
import { takeOtlpProtobuf } from '../../ingest/doors/otlp-protobuf.ts';
import { MOST_VALUE_LEVELS } from '../../ingest/doors/otlp-record.ts';
import { BatchBuilder } from '../../ingest/event/batch-builder.ts';
import { CLOCK_TOLERANCE_MS, LARGEST_EVENT_BYTES, LARGEST_REST_BYTES } from '../../ingest/event/event-verdict.ts';
import { MAX_NESTING } from '../../ingest/event/json-skipper.ts';
import { LONGEST_LOG_ID_BYTES } from '../../ingest/event/log-id.ts';
import { MAX_PENDING_BYTES } from '../../ingest/event/pending-appends.ts';
import { KafkaTokenError, KafkaTokens, MAX_TOKEN_ANSWER_BYTES, TOKEN_DEADLINE_MS } from '../../ingest/kafka/kafka-token.ts';
import { decodeRecordSet } from '../../ingest/kafka/record-set.ts';
import { MAX_UNPACKED_BYTES } from '../../ingest/kafka/unpacked-bytes.ts';
import { MOST_UNPACKED_BYTES } from '../../ingest/mapping/decode-steps.ts';
import { MOST_LAYERS, MOST_UNPACKED_OF_ITEMS } from '../../ingest/mapping/record-mapper.ts';
import { MOST_STEPS } from '../../ingest/mapping/record-path.ts';
import { LARGEST_MAPPING_BYTES } from '../../ingest/mapping/yaml-tree.ts';
import { MAX_REJECTED, MAX_REJECTED_LISTED } from '../../ingest/upload/intake-report.ts';
import { addKafkaMessage, MAX_ITEM_LETTERS, MOST_MAPPED_BYTES } from '../../ingest/upload/message-events.ts';
import { MAX_ZSTD_WINDOW_BYTES } from '../../ingest/upload/zstd-frame.ts';
import { INT32 } from '../../query/integer-ranges.ts';
import { STORED_TEXT_BYTES } from '../../query/text-bytes.ts';
import { loadConfig } from '../../src/config/config.ts';
import { ROOM_MS } from '../../src/http/body-memory.ts';
import { DEAD_LETTER_BODY_LIMITS, MAX_LISTED_LETTERS, readReplayRequest } from '../../src/http/dead-letter-json.ts';
import { BODY_DEADLINE_MS, DOOR_BODY_BYTES, SEARCH_BODY_BYTES } from '../../src/http/request-body.ts';
import { MOST_DOOR_LETTERS } from '../../src/routes/doors/door.ts';
import { MAX_DAMAGED_BYTES } from '../../store/embedded/journal/set-aside-journals.ts';
import { HOLD_MS } from '../../store/retention-hold.ts';
import { recordingUpstream } from '../edge/upstreams.ts';
import { anyValueOf, otlpProtobuf } from '../fixtures/otlp-requests.ts';
import { zstdFrame } from '../fixtures/zstd-frame.ts';
import { builtBatch, builtRecord, CODEC, PACK, readAll } from '../ingest/kafka/built-batch.ts';
import { type Answer, ask, ingest, type RunningApp, search, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf, refusalOf } from './limit-table.ts';

const NOW = Date.now();
const DEFAULTS = loadConfig({});

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ now: () => NOW });
});

afterAll(() => app.stop());

const event = (rest: object = {}): string => JSON.stringify({ shieldZoneId: 7, timestamp: NOW, ...rest });

/** Returns the outcome of the one event of an upload. */
async function verdictOn(line: string): Promise<string> {
  return outcomeOfOne(await ingest(app, line));
}

/** Returns the outcome of a record of AWS WAF with such members beside its time. */
async function verdictOnRecord(change: (record: string) => string): Promise<string> {
  const body = change(`{"timestamp":${NOW},"action":"BLOCK"}`);
  return outcomeOfOne(await ask(app, '/ingest/events?mapping=aws-waf&zone=7', { method: 'POST', body }));
}

function outcomeOfOne(answer: Answer): string {
  if (answer.status !== 202) return outcomeOf(answer);
  const { rejectedCount, expired } = answer.body;
  if (rejectedCount > 0) return 'rejected';
  return expired > 0 ? 'expired' : 'ok';
}

const ofBytes = (size: number): string => event({ ua: 'x'.repeat(size - event({ ua: '' }).length) });
const nested = (levels: number): string => event({ log: { a: [] } }).replace('[]', '['.repeat(levels - 2) + ']'.repeat(levels - 2));

/** Returns the outcome of an answer of the token endpoint with so many bytes. */
async function tokenAnswer(size: number): Promise<string> {
  const body = JSON.stringify({ access_token: 'x', token_type: 'Bearer', expires_in: 3_600 }).padEnd(size);
  await using endpoint = await recordingUpstream((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body),
  );
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const tokens = new KafkaTokens({ tokenUrl: endpoint.url, clientId: 'me', clientSecret: 'secret', scope: null }, logger, Date.now);
  try {
    await tokens.token([]);
    return 'ok';
  } catch (error) {
    if (!(error instanceof KafkaTokenError)) throw error;
    return error.message.split(':', 1)[0] ?? '';
  }
}

/** Returns the outcome of a record batch of one record that unpacks to so many bytes. */
async function unpacked(size: number): Promise<string> {
  const around = builtRecord({ value: Buffer.alloc(size) }, 0).length - size;
  const plain = builtRecord({ value: Buffer.alloc(size - around) }, 0);
  const batch = builtBatch({ records: [], count: 1, lastDelta: 0, codec: CODEC.zstd, pack: () => PACK.zstd(plain) });
  const { records, fault } = readAll(decodeRecordSet(batch));
  return fault?.reason ?? (records[0]?.value?.length === size - around ? 'ok' : 'nothing');
}

describeLimits('Ingest', import.meta.filename, {
  'bytes of an event': { is: bytes(LARGEST_EVENT_BYTES), ask: (size) => verdictOn(ofBytes(size)) },
  'bytes of the log of an event, with the members that are no fields, and those whose texts are stored in part': {
    is: bytes(LARGEST_EVENT_BYTES),
    ask: async (size) => {
      const outcomes = [
        await verdictOn(event({ log: { a: 'x'.repeat(size - 8) } })),
        await verdictOn(event({ log: {}, a: 'x'.repeat(size - 8) })),
        await verdictOn(event({ log: { a: 'x'.repeat(size - 100_016) }, ua: 'x'.repeat(100_000) })),
      ];
      return [...new Set(outcomes)].join();
    },
  },
  'bytes of a text of an event that are stored': {
    is: bytes(STORED_TEXT_BYTES),
    ask: async (size) => {
      await ingest(app, event({ logId: `text of ${size}`, ua: 'x'.repeat(size) }));
      const { body } = await search(app, JSON.stringify({ from: NOW, to: NOW + 1, query: 'xxxxxxxxxx' }));
      const { fields } = body.rows.find(({ logId }: { logId: string }) => logId === `text of ${size}`);
      return fields.ua.length === size ? 'ok' : `taken as ${fields.ua.length}`;
    },
  },
  'bytes of an event beside its log, with its `logId`': {
    is: bytes(LARGEST_REST_BYTES),
    ask: (size) =>
      verdictOn(event({ logId: 'a', log: { ua: 0 }, ua: 'x'.repeat(size - event({ logId: 'a', log: {}, ua: '' }).length + 2) })),
  },
  'bytes of a dead letter that is kept whole': {
    is: bytes(LARGEST_EVENT_BYTES),
    ask: async (size) => {
      await ingest(app, 'x'.repeat(size));
      const letters: readonly { sizeBytes: number; text: string; replayable: boolean }[] = (await ask(app, '/ingest/dead-letters')).body
        .deadLetters;
      const letter = letters.find(({ sizeBytes }) => sizeBytes === size);
      return letter?.replayable === true ? 'ok' : `${letter?.text.length} bytes kept`;
    },
  },
  'bytes of all dead letters': {
    is: bytes(DEFAULTS.deadLetterMaxMb * 1024 ** 2),
    elsewhere: 'past the quota an upload is told which letters are not kept, a Kafka message leaves a record, and room is used again',
  },
  'age of a dead letter': {
    is: milliseconds(DEFAULTS.deadLetterRetentionMs),
    elsewhere: 'letters are removed when their time is over, with the retention and at a start',
  },
  'bytes of journals that are set aside because they are not whole': {
    is: bytes(MAX_DAMAGED_BYTES),
    elsewhere: 'the oldest files give way where there are too many bytes, and those of one journal stay together',
  },
  'time until the retention drops more than half of the events by itself': {
    is: milliseconds(HOLD_MS),
    elsewhere: 'most of the events are dropped once they have been past the retention for an hour on end, by a clock that nobody sets',
  },
  'rejected events of one request': {
    is: count(MAX_REJECTED),
    ask: async (events) => outcomeOf(await ingest(app, '{}\n'.repeat(events))),
  },
  'rejected records of one request at a [door](doors.md)': {
    is: count(MOST_DOOR_LETTERS),
    ask: async (letters) => {
      const { status } = await ask(app, '/services/collector/raw', { method: 'POST', body: 'x\n'.repeat(letters) + event() });
      return status === 200 ? 'ok' : String(status);
    },
  },
  'bytes of one request at a [door](doors.md), decompressed': {
    is: bytes(DOOR_BODY_BYTES),
    ask: async (size) => {
      const { status } = await ask(app, '/services/collector', { method: 'POST', body: `{"event":${event()}}`.padEnd(size) });
      return status === 200 ? 'ok' : String(status);
    },
  },
  'records of a request of Firehose': {
    is: count(MOST_FIREHOSE_RECORDS),
    ask: async (records) => {
      const body = `{"records":[${Array.from({ length: records }, () => '{"data":""}').join(',')}]}`;
      const { status } = await ask(app, '/ingest/firehose', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return status === 200 ? 'ok' : String(status);
    },
  },
  'levels of values inside one another in a log record of OTLP': {
    is: count(MOST_VALUE_LEVELS),
    ask: async (levels) => {
      const inside = Array.from({ length: levels - 1 }).reduce((value: unknown) => [value], []);
      const taken = takeOtlpProtobuf(Buffer.concat([otlpProtobuf([{ body: anyValueOf(inside) }]), Buffer.of(0)]));
      if (taken.kind === 'fault') return taken.reason;
      return taken.records.bytes.includes('"') ? 'kept as a text' : 'ok';
    },
  },
  'records of one request at a door': {
    is: count(MOST_RECORDS),
    ask: async (records) => {
      const { status } = await ask(app, '/services/collector/raw', { method: 'POST', body: 'x\n'.repeat(records) });
      // So many letters are not read on.
      return status === 400 ? 'ok' : String(status);
    },
  },
  "bytes of a poll for acknowledgements of Splunk's door": {
    is: bytes(SEARCH_BODY_BYTES),
    ask: async (size) => {
      const { status } = await ask(app, '/services/collector/ack?channel=c', { method: 'POST', body: '{"acks":[1]}'.padEnd(size) });
      return status === 200 ? 'ok' : String(status);
    },
  },
  'bytes of an action of a bulk request': {
    is: bytes(LONGEST_ACTION_BYTES),
    ask: async (size) => {
      const body = `${'{"delete":{}}'.padEnd(size)}\n`;
      const { status } = await ask(app, '/_bulk', { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body });
      return status === 200 ? 'ok' : String(status);
    },
  },
  'items of a bulk request': {
    is: count(MOST_BULK_ITEMS),
    ask: async (items) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: '{"delete":{}}\n'.repeat(items) };
      const { status } = await ask(app, '/_bulk', init);
      return status === 200 ? 'ok' : String(status);
    },
  },
  'time that a request at a door waits for room in the memory, and for the store and a thread': {
    is: milliseconds(ROOM_MS),
    elsewhere: 'a body of a door > waits for room, and is refused after some seconds without',
  },
  'bytes of one request, decompressed': {
    is: bytes(DEFAULTS.ingestMaxMb * 1024 ** 2),
    // Tried where the setting is 1 MiB.
    within: 1024 ** 2,
    past: 1024 ** 2 + 1,
    ask: async (size) => {
      const small = await startApp({ env: { INGEST_MAX_MB: '1' } });
      const outcome = outcomeOf(await ingest(small, '\n'.repeat(size)));
      await small.stop();
      return outcome;
    },
  },
  'bytes of `logId`': { is: bytes(LONGEST_LOG_ID_BYTES), ask: (size) => verdictOn(event({ logId: 'x'.repeat(size) })) },
  'objects and arrays inside one another': { is: count(MAX_NESTING), ask: (levels) => verdictOn(nested(levels)) },
  '`shieldZoneId`': { is: count(Number(INT32.max)), ask: (shieldZoneId) => verdictOn(event({ shieldZoneId })) },
  '`timestamp` after now': { is: milliseconds(CLOCK_TOLERANCE_MS), ask: (ms) => verdictOn(event({ timestamp: NOW + ms })) },
  '`timestamp` before now': {
    is: milliseconds(DEFAULTS.retentionMs),
    ask: (ms) => verdictOn(event({ timestamp: NOW - ms })),
  },
  'bytes that `decode` of a mapping unpacks of a record': {
    is: bytes(MOST_UNPACKED_BYTES),
    elsewhere: 'a text that unpacks to more than a record may have is refused',
  },
  'bytes that it unpacks of all records of an envelope': {
    is: bytes(MOST_UNPACKED_OF_ITEMS),
    elsewhere: 'an envelope > unpacks so much of all items at most',
  },
  'bytes of the events that a mapping makes of a message of Kafka': {
    is: bytes(MOST_MAPPED_BYTES),
    elsewhere: 'a message whose events would be too much is read to there, and is a letter',
  },
  'envelopes and wrappers that a record is taken out of': {
    is: count(MOST_LAYERS),
    ask: (layers) => verdictOnRecord((record) => '{"log":'.repeat(layers) + record + '}'.repeat(layers)),
  },
  'objects and arrays inside one another in a record of another product': {
    is: count(MAX_NESTING - 1),
    ask: (levels) => verdictOnRecord((record) => record.replace('}', `,"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`)),
  },
  'steps of a path of a mapping': { is: count(MOST_STEPS), elsewhere: 'a path has so many steps at most' },
  'bytes of the file of a mapping': { is: bytes(LARGEST_MAPPING_BYTES), elsewhere: 'a mapping file that is too long is refused' },
  'rejected events that an answer lists': {
    is: count(MAX_REJECTED_LISTED),
    ask: async (events) => {
      const { length } = (await ingest(app, '{}\n'.repeat(events))).body.rejected;
      return length === events ? 'ok' : `taken as ${length}`;
    },
  },
  'time without a byte of the body': {
    is: milliseconds(BODY_DEADLINE_MS),
    elsewhere: 'a body that never arrives > ends %s with 408, and its connection',
  },
  'arrival of the end of an event, from its first byte behind 16 KiB on': {
    is: milliseconds(BODY_DEADLINE_MS),
    elsewhere:
      'a body that never arrives > is one whose event of more than 16 KiB has no end for so long, however steadily its bytes come: %s',
  },
  'bytes of the window of a zstd frame': {
    is: bytes(MAX_ZSTD_WINDOW_BYTES),
    past: 2 * MAX_ZSTD_WINDOW_BYTES,
    ask: async (size) => outcomeOf(await ingest(app, await zstdFrame(event(), Math.log2(size)), { 'content-encoding': 'zstd' })),
  },
  'events of a Kafka message that become dead letters of their own': {
    is: count(MAX_ITEM_LETTERS),
    ask: async (letters) => {
      const builder = new BatchBuilder({ now: () => NOW, retentionMs: DEFAULTS.retentionMs });
      addKafkaMessage(builder, 'events', 0, 1n, Buffer.from(`[${event()}${',{}'.repeat(letters)}]`));
      const { eventCount, deadLetters } = builder.take();
      return eventCount === 1 && deadLetters.length === letters ? 'ok' : 'the whole message is one';
    },
  },
  'silence of the token endpoint of Kafka': {
    is: milliseconds(TOKEN_DEADLINE_MS),
    elsewhere: 'a token endpoint > that answers with silence is named, with its status',
  },
  'bytes of an answer of the token endpoint of Kafka': { is: bytes(MAX_TOKEN_ANSWER_BYTES), ask: tokenAnswer },
  'bytes that a record batch of Kafka unpacks to': { is: bytes(MAX_UNPACKED_BYTES), ask: unpacked },
  'bytes that the store has yet to do while an upload is read': {
    is: bytes(MAX_PENDING_BYTES),
    elsewhere: 'while the store is behind an input is not read on, and to its end afterwards',
  },
  '`limit` of the dead letters': {
    is: count(MAX_LISTED_LETTERS),
    ask: async (limit) => outcomeOf(await ask(app, `/ingest/dead-letters?limit=${limit}`)),
  },
  'bytes of the body of a replay or a discard': {
    is: bytes(fastify().initialConfig.bodyLimit ?? 0),
    ask: async (size) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"ids":[]}'.padEnd(size) };
      return outcomeOf(await ask(app, '/ingest/dead-letters/replay', init));
    },
  },
  'values of the JSON body of a replay or a discard': {
    is: count(DEAD_LETTER_BODY_LIMITS.values),
    // The body and the array are values, too.
    ask: async (values) => {
      // Ids as short as those of the embedded store: so many of other stores are more bytes than a body may have.
      const body = `{"ids":[${Array.from({ length: values - 2 }, () => 7).join()}]}`;
      return await refusalOf(() => readReplayRequest(Buffer.from(body), { allowed: '7', parse: String }, []));
    },
  },
});
