import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { GROUP_DIMENSIONS } from '../../../query/event-fields.ts';
import { FEED_FORMAT_NAMES } from '../../../src/formats/feed-formats.ts';
import { anyValueOf, otlpJson, otlpProtobuf, textRecord } from '../../fixtures/otlp-requests.ts';
import { oracleEvents } from '../../oracle/raw-event.ts';
import { DESCRIBED_OPERATIONS, type DescribedOperation } from '../../src/openapi/document-check.ts';
import { documentedCall } from '../../src/openapi/documented-call.ts';
import { arbitraryEvent } from '../arbitrary-event.ts';
import { arbitraryExplore } from '../arbitrary-explore.ts';
import { arbitraryRequest } from '../arbitrary-request.ts';
import { generateRawEvents } from '../filled-store.ts';
import { arbitraryPipeline } from './arbitrary-pipeline.ts';
import { largeEvents, largePipelines, largeRecords, largeSearches, largeSpecifications } from './large-documents.ts';

const HOUR_MS = 3_600_000;

/** A request that a route takes, or nearly, before anything happens to its bytes. */
export interface Draft {
  /** The name of the operation in the document. */
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: none. */
  readonly body: Buffer | null;
}

const JSON_TYPE = { 'content-type': 'application/json' };

function operation(operationId: string): DescribedOperation {
  const found = DESCRIBED_OPERATIONS.find((candidate) => candidate.operationId === operationId);
  if (found === undefined) throw new Error(`the document has no operation ${operationId}`);
  return found;
}

/** A draft for an operation of zone 1. */
function draft(operationId: string, rest: Partial<Draft>): Draft {
  const { method, path } = operation(operationId);
  return { operationId, method, path: path.replace('{shieldZoneId}', '1'), query: '', headers: {}, body: null, ...rest };
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const query = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`)
    .join('&');

/** Mostly what is usual, now and then what is large. */
function usuallySmall<T>(usual: fc.Arbitrary<T>, large: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: large });
}

function ingestDrafts(nowMs: number): fc.Arbitrary<Draft> {
  // The key that brings them opens zone 1 alone.
  const zone = fc.oneof({ weight: 80, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(2, -2, '2', 0) });
  const event = fc.tuple(arbitraryEvent(nowMs), zone).map(([values, shieldZoneId]) => JSON.stringify({ ...values, shieldZoneId }));
  const body = fc
    .tuple(fc.array(event, { minLength: 1, maxLength: 30 }), fc.boolean())
    .map(([events, asArray]) => Buffer.from(asArray ? `[${events.join(',')}]` : events.join('\n')));
  const type = fc.constantFrom('application/x-ndjson', 'application/json', 'text/plain');
  return fc
    .tuple(usuallySmall(body, largeEvents(nowMs)), type, fc.constantFrom('', '', 'source=file', 'source=http'))
    .map(([bytes, contentType, source]) => draft('ingestEvents', { headers: { 'content-type': contentType }, body: bytes, query: source }));
}

/** Requests of Splunk's collector: objects back to back, or lines, some of whose events are texts. */
function collectorDrafts(nowMs: number): fc.Arbitrary<Draft> {
  const event = fc.tuple(arbitraryEvent(nowMs), fc.boolean()).map(([values, isText]) => {
    const text = JSON.stringify({ ...values, shieldZoneId: 1 });
    return isText ? JSON.stringify(text) : text;
  });
  const body = fc.tuple(fc.array(event, { maxLength: 30 }), fc.constantFrom('', '\n')).map(([events, between]) => ({
    objects: Buffer.from(events.map((one) => `{"time":1.5,"event":${one}}`).join(between)),
    lines: Buffer.from(events.join('\n')),
  }));
  return fc
    .tuple(body, fc.boolean(), fc.constantFrom('', 'channel=1', 'source=x'))
    .map(([{ objects, lines }, isRaw, values]) =>
      isRaw
        ? draft('sendLinesToCollector', { body: lines, query: values })
        : draft('sendEventsToCollector', { headers: JSON_TYPE, body: objects, query: values }),
    );
}

/** Requests of Amazon Data Firehose, some of whose data are gzip. */
function firehoseDrafts(nowMs: number): fc.Arbitrary<Draft> {
  const event = arbitraryEvent(nowMs).map((values) => JSON.stringify({ ...values, shieldZoneId: 1 }));
  const data = fc.tuple(fc.array(event, { maxLength: 5 }), fc.boolean()).map(([events, isPacked]) => {
    const lines = Buffer.from(events.join('\n'));
    return { data: (isPacked ? gzipSync(lines) : lines).toString('base64') };
  });
  return fc
    .tuple(fc.array(data, { maxLength: 10 }), fc.constantFrom({}, { 'x-amz-firehose-request-id': 'r-1' }))
    .map(([records, headers]) =>
      draft('sendFromFirehose', { headers: { ...JSON_TYPE, ...headers }, body: json({ requestId: 'r-1', timestamp: nowMs, records }) }),
    );
}

/** Log records of OTLP in both encodings, some of whose bodies are lists of keys and values. */
function otlpDrafts(nowMs: number): fc.Arbitrary<Draft> {
  const record = fc
    .tuple(arbitraryEvent(nowMs), fc.boolean())
    .map(([values, isText]) => [JSON.stringify({ ...values, shieldZoneId: 1 }), isText] as const)
    .map(([event, isText]) => (isText ? textRecord(event) : { body: anyValueOf(JSON.parse(event)) }));
  return fc.tuple(fc.array(record, { maxLength: 30 }), fc.boolean()).map(([records, isJson]) =>
    draft('sendOtlpLogs', {
      headers: isJson ? JSON_TYPE : { 'content-type': 'application/x-protobuf' },
      body: isJson ? otlpJson(records) : otlpProtobuf(records),
    }),
  );
}

/** Bulk requests of Elasticsearch. */
function bulkDrafts(nowMs: number): fc.Arbitrary<Draft> {
  const event = arbitraryEvent(nowMs).map((values) => JSON.stringify({ ...values, shieldZoneId: 1 }));
  const item = fc.oneof(
    event.map((document) => `{"index":{"_index":"logs"}}\n${document}\n`),
    event.map((document) => `{"create":{"_id":"1"}}\n${document}\n`),
    fc.constantFrom('{"delete":{"_id":"1"}}\n', '{"update":{}}\n{"doc":{}}\n'),
  );
  const accept = fc.constantFrom({}, { accept: 'application/vnd.elasticsearch+json; compatible-with=9' });
  return fc
    .tuple(fc.array(item, { maxLength: 30 }), accept)
    .map(([items, headers]) =>
      draft('bulk', { headers: { 'content-type': 'application/x-ndjson', ...headers }, body: Buffer.from(items.join('')) }),
    );
}

function searchBodies(nowMs: number): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const valid = arbitraryRequest(oracleEvents(generateRawEvents(1, 60, nowMs)), nowMs).map(({ body }) => ({ ...body }));
  const window = fc.constantFrom({}, { from: nowMs - 70 * HOUR_MS, to: nowMs }, { from: nowMs - HOUR_MS, to: nowMs });
  return usuallySmall(
    fc.tuple(valid, window).map(([body, bounds]) => ({ ...body, ...bounds })),
    largeSearches(nowMs),
  );
}

/** Questions of the explorer, now and then as much as one may ask about a large search. */
function exploreBodies(nowMs: number): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const valid = arbitraryExplore(oracleEvents(generateRawEvents(1, 60, nowMs)), nowMs, fc.constant('all')).map(({ body }) => ({ ...body }));
  const everything = {
    histogram: { buckets: 500, by: 'url' },
    facets: GROUP_DIMENSIONS.map((field) => ({ field, limit: 100, order: 'difference' })),
    selection: { from: nowMs - HOUR_MS, exclude: [{ field: 'ua', op: 'contains', value: ['a'] }] },
  };
  const large = largeSearches(nowMs).map((body) => ({ ...body, ...everything }));
  return usuallySmall<Readonly<Record<string, unknown>>>(valid, large);
}

/** The filters of another search, half of the time. */
function excludedClauses(bodies: fc.Arbitrary<Readonly<Record<string, unknown>>>): fc.Arbitrary<unknown> {
  return fc.option(
    bodies.map(({ filters }) => filters),
    { freq: 1, nil: undefined },
  );
}

function queryDrafts(nowMs: number): readonly fc.Arbitrary<Draft>[] {
  const bodies = searchBodies(nowMs);
  const conditions = fc
    .tuple(bodies, excludedClauses(bodies))
    .map(([{ query: words, filters }, exclude]) => JSON.stringify({ query: words, filters, exclude }));
  const cursor = fc.constantFrom(undefined, undefined, undefined, undefined, 'now', 'now', 'AQAAAAAAAAAAAAAAAAAAAAAAAAAA', 'x'.repeat(28));
  const zones = fc.constantFrom('1', '1', '1', 'all', '1,2', '-1', '1,1', Array.from({ length: 3_000 }, (_, zone) => zone).join(','));
  const feed = fc.record({
    cursor,
    limit: fc.constantFrom('1', '7', '500', '100001'),
    format: fc.constantFrom(undefined, 'xml', ...FEED_FORMAT_NAMES, ...FEED_FORMAT_NAMES),
    wait: fc.constantFrom(undefined, undefined, undefined, undefined, '0', '0', '1', '31'),
    search: fc.option(conditions, { nil: undefined }),
  });
  return [
    fc.tuple(feed, zones).map(([values, list]) => draft('readFeed', { path: `/shield/event-logs/${list}/feed`, query: query(values) })),
    fc
      .tuple(conditions, cursor, zones)
      .map(([search, lastEventId, list]) =>
        draft('tailEvents', { path: `/shield/event-logs/${list}/tail`, query: query({ search, lastEventId }) }),
      ),
    fc
      .tuple(
        fc.constantFrom('listActiveZones', 'listActiveRules'),
        fc.constantFrom(nowMs - HOUR_MS, nowMs - 70 * HOUR_MS, 0, '-1', ''),
        fc.constantFrom(nowMs, nowMs - 2 * HOUR_MS, 2 ** 53),
      )
      .map(([operation, from, to]) => draft(operation, { query: query({ from, to }) })),
    fc
      .record({ afterId: fc.constantFrom(undefined, '0', '5', '9007199254740991'), limit: fc.constantFrom('1', '3', '10001') })
      .map((values) => draft('listDeadLetters', { query: query(values) })),
  ];
}

function bodyDrafts(nowMs: number): readonly fc.Arbitrary<Draft>[] {
  const bodies = searchBodies(nowMs);
  return [
    bodies.map((body) => draft('searchEventLogs', { headers: JSON_TYPE, body: json(body) })),
    fc
      .tuple(
        bodies,
        excludedClauses(bodies),
        fc.constantFrom('1', '1', 'all', '1,1', '1,2'),
        fc.constantFrom(undefined, undefined, 'log,ip,time', 'shieldZoneId', 'ip,ip', '', 'x'.repeat(10_000)),
      )
      .map(([{ from, to, query: words, filters }, exclude, zones, columns]) =>
        draft('exportEventLogs', {
          path: `/shield/event-logs/${zones}/export`,
          query: query({ columns }),
          headers: JSON_TYPE,
          body: json({ from, to, query: words, filters, exclude }),
        }),
      ),
    fc
      .tuple(exploreBodies(nowMs), fc.constantFrom('1', '1', 'all', '1,1', '1,2'))
      .map(([body, zones]) =>
        draft('exploreEventLogs', { path: `/shield/event-logs/${zones}/explore`, headers: JSON_TYPE, body: json(body) }),
      ),
    fc
      .constantFrom({}, { ids: [] }, { ids: [1, 2, 3] }, { ids: Array.from({ length: 10_000 }, (_, id) => id) })
      .map((body) => draft('replayDeadLetters', { headers: JSON_TYPE, body: json(body) })),
  ];
}

/** Draws the documented example of each other operation, with a larger body if the operation allows one. */
function managementDrafts(): fc.Arbitrary<Draft> {
  const own = [
    'ingestEvents',
    'sendEventsToCollector',
    'sendFromFirehose',
    'bulk',
    'sendOtlpLogs',
    'sendLinesToCollector',
    'readFeed',
    'tailEvents',
    'listDeadLetters',
    'replayDeadLetters',
    'searchEventLogs',
    'exploreEventLogs',
    'listActiveZones',
    'listActiveRules',
    'exportEventLogs',
    'databasePipeline',
  ];
  const examples = DESCRIBED_OPERATIONS.filter(({ operationId }) => !own.includes(operationId)).map((described) => {
    const { method, path, headers, body } = documentedCall(described, 'application/json');
    const [plain = '', search = ''] = path.split('?', 2);
    const bytes = body === undefined ? null : Buffer.from(body);
    return {
      operationId: described.operationId,
      method,
      path: plain,
      query: search,
      headers: bytes === null ? {} : { ...headers },
      body: bytes,
    };
  });
  const large = fc.oneof(
    largeRecords.map((body) => draft('addDnsZone', { headers: JSON_TYPE, body: json(body) })),
    largeSpecifications.map((body) =>
      draft('updateApiGuardianSpec', { path: '/shield/shield-zone/7/api-guardian/spec', headers: JSON_TYPE, body: json(body) }),
    ),
  );
  return usuallySmall(fc.constantFrom(...examples), large);
}

/** Every route of the program, those where most comes in most often. Times are around `nowMs`. */
export function drafts(nowMs: number): fc.Arbitrary<Draft> {
  const pipeline = usuallySmall(arbitraryPipeline, largePipelines).map((body) =>
    draft('databasePipeline', { headers: JSON_TYPE, body: json(body) }),
  );
  const [feed, tail, active, letters] = queryDrafts(nowMs);
  const [search, exported, explored, replay] = bodyDrafts(nowMs);
  const searches = { search, explored, active, tail, feed, exported };
  const byRoute = {
    ingest: ingestDrafts(nowMs),
    collector: collectorDrafts(nowMs),
    firehose: firehoseDrafts(nowMs),
    bulk: bulkDrafts(nowMs),
    otlp: otlpDrafts(nowMs),
    pipeline,
    ...searches,
    letters,
    replay,
    management: managementDrafts(),
  };
  const weights = {
    ...{ ingest: 5, collector: 5, firehose: 3, bulk: 3, otlp: 3, pipeline: 5, search: 5, explored: 5, active: 1, tail: 3, feed: 3 },
    ...{ exported: 1, letters: 1, replay: 1, management: 4 },
  };
  return fc.oneof(
    ...Object.entries(byRoute).flatMap(([name, arbitrary]) =>
      arbitrary === undefined ? [] : [{ weight: weights[name as keyof typeof weights], arbitrary }],
    ),
  );
}
