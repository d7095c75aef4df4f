import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BatchBuilder } from '../../ingest/event/batch-builder.ts';
import type { Mapping } from '../../ingest/mapping/mapping.ts';
import { type MappedRecord, RecordMapper } from '../../ingest/mapping/record-mapper.ts';
import { takeInEvents } from '../../ingest/upload/event-intake.ts';
import { firstByteOf } from '../../ingest/upload/event-splitters.ts';
import { IntakeError, type IntakeReport, UnreadableInput } from '../../ingest/upload/intake-report.ts';
import { mapRecords } from '../../ingest/upload/mapped-records.ts';
import { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import { mapMessage } from '../../ingest/upload/message-events.ts';
import { OPEN_BRACKET } from '../../query/json-bytes.ts';
import type { DeadLetter } from '../../store/dead-letter.ts';
import { type LoadedEvent, loadedEvents } from '../ingest/event/loaded-events.ts';
import { mappingOf, NOW, PRESETS, ZONES } from '../ingest/mapping/mapped.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { ask, type RunningApp, startApp } from '../src/running-app.ts';
import { anyBytes, anyMapping } from './arbitrary-mapping.ts';

const RULES = { now: () => NOW, retentionMs: 72 * 3_600_000 };

/** What becomes of an input. */
interface Outcome {
  readonly events: readonly LoadedEvent[];
  /** The index, the bytes, the reason and the zone of each. */
  readonly letters: readonly (readonly [index: number, bytes: string, reason: string, zoneId: number | null])[];
  readonly expired: number;
  readonly leftOut: number;
  readonly isCutOff: boolean;
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const inLines = (parts: readonly Uint8Array[]): Buffer => joined(parts, '\n', '\n');
const FORMS = { lines: ['', '\n', '\n'], array: ['[', ',', ']'], 'array without its end': ['[', ',', ''] } as const;

function joined(parts: readonly Uint8Array[], between: string, last: string, first = ''): Buffer {
  const pieces = parts.flatMap((part, index) => [part, Buffer.from(index === parts.length - 1 ? last : between)]);
  return Buffer.concat([Buffer.from(first), ...pieces]);
}

function chunksOf(input: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const ends = [...cuts.filter((at) => at < input.length).sort((one, other) => one - other), input.length];
  return ends.map((end, index) => input.subarray(ends[index - 1] ?? 0, end));
}

async function* each(chunks: readonly Buffer[]): AsyncIterable<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** As `shieldlog mappings try` maps it, and the intake judges each event. */
async function tried(input: Buffer, mapping: Mapping): Promise<Outcome> {
  const builder = new BatchBuilder(RULES);
  const letters: Outcome['letters'][number][] = [];
  let [seen, expired, leftOut] = [0, 0, 0];
  const receive = (one: MappedRecord): void => {
    const verdict = one.kind === 'event' ? builder.tryEvent(one.event) : one;
    if (verdict.kind === 'expired') expired += 1;
    if (verdict.kind === 'leftOut') leftOut += 1;
    if (verdict.kind === 'rejected') letters.push([seen, latin1(one.record), verdict.reason, verdict.zoneId]);
    seen += 1;
  };
  let isCutOff = false;
  await mapRecords(each([input]), new RecordMapper(mapping, ZONES), receive, async () => undefined).catch((error: unknown) => {
    if (!(error instanceof UnreadableInput)) throw error;
    isCutOff = true;
  });
  return { events: loadedEvents(builder.take()), letters, expired, leftOut, isCutOff };
}

/** As an upload is taken in. */
async function takenIn(chunks: readonly Buffer[], threads: MappingThreads, name: string): Promise<Outcome> {
  const events: LoadedEvent[] = [];
  const kept: DeadLetter[] = [];
  const append: RunningApp['store']['append'] = async (batch) => {
    events.push(...loadedEvents(batch));
    kept.push(...batch.deadLetters);
    return { eventCount: batch.eventCount, duplicates: 0, deadLettersNotKept: [] };
  };
  const noting = Object.assign(Object.create(app.store), { append, pendingBytes: () => 0 }) as RunningApp['store'];
  const mapping = { threads, name, zones: { given: null, fallback: 7, opened: 'all' } } as const;
  let [report, isCutOff]: [IntakeReport | null, boolean] = [null, false];
  try {
    report = await takeInEvents(each(chunks), { ...RULES, store: noting, source: 'http', form: 'json', mapping });
  } catch (error) {
    if (!(error instanceof IntakeError)) throw error;
    expect(error.code).toBe('unclosed_array');
    [report, isCutOff] = [error.report, true];
  }
  const { accepted, expired, rejected, rejectedCount, leftOut = Number.NaN } = report;
  expect([accepted, rejectedCount]).toEqual([events.length, kept.length]);
  expect(rejected.map(({ reason }) => reason)).toEqual(kept.slice(0, rejected.length).map(({ reason }) => reason));
  expect(kept.every(({ mapping: by }) => by === name)).toBe(true);
  const letters = kept.map(
    ({ bytes, reason, zoneId }, number) => [rejected[number]?.index ?? Number.NaN, latin1(bytes), reason, zoneId] as const,
  );
  return { events, letters, expired, leftOut, isCutOff };
}

/** As a message of a topic that has the mapping is read. */
function readMessage(value: Uint8Array, mapping: Mapping) {
  const builder = new BatchBuilder(RULES);
  let [expired, leftOut, letters] = [0, 0, 0];
  const rejected = mapMessage(new RecordMapper(mapping, ZONES), { topic: 't', partition: 3, offset: 41n }, value, (mapped) => {
    const verdict = mapped.kind === 'event' ? builder.tryEvent(mapped.event) : mapped;
    if (verdict.kind === 'expired') expired += 1;
    if (verdict.kind === 'leftOut') leftOut += 1;
    if (verdict.kind === 'rejected') letters += 1;
  });
  const loaded = loadedEvents(builder.take());
  const events = loaded.map(({ logId: _, ...event }) => event);
  return { events, logIds: loaded.map(({ logId }) => logId), expired, leftOut, letters: letters + rejected.length };
}

function threadsOf(mappings: ReadonlyMap<string, Mapping>): MappingThreads {
  return new MappingThreads(new Map([...mappings].map(([name, mapping]) => [name, { mapping, file: '', text: '', isPreset: true }])));
}

/** For records that go to a thread. */
const WORDS = mappingOf(`
timestamp: {path: timestamp, time: [iso, unix]}
ua: {first: [{path: a, decode: [base64, gzip]}, 'b[*].a']}
url: {text: 'x{a}{?b}'}
items: {path: records, decode: [base64, gzip]}
leaveOut: {path: ip, table: {"*": "true"}}
`);
const ON_THREADS = new Map([...PRESETS, ['words', WORDS]]);

let app: RunningApp;
let threads: MappingThreads;

beforeAll(async () => {
  app = await startApp({ now: () => NOW });
  threads = threadsOf(ON_THREADS);
});

afterAll(async () => {
  await threads.close();
  await app.stop();
});

const form = fc.constantFrom('lines' as const, 'array', 'array without its end');
const cuts = fc.array(fc.nat(300), { maxLength: 6 });

test('an upload in any chunks becomes by any mapping what `mappings try` makes of it, each record once', async () => {
  const seen = { events: 0, letters: 0, expired: 0, leftOut: 0, isCutOff: 0 };
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(anyBytes, { maxLength: 5 }), form, anyMapping, cuts, async (parts, inForm, mapping, at) => {
      const [first, between, last] = FORMS[inForm];
      const input = joined(parts, between, last, first);
      const expected = await tried(input, mapping);
      const own = threadsOf(new Map([[mapping.name, mapping]]));
      expect(await takenIn(chunksOf(input, at), own, mapping.name)).toEqual(expected);
      await own.close();
      for (const [what, count] of Object.entries(expected)) seen[what as keyof typeof seen] += Number(count.length ?? count);
    }),
    { numRuns: propertyRuns(120) },
  );
  // Otherwise something was never tried.
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
});

test('so does one that is mapped on threads', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(
      fc.array(anyBytes, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...ON_THREADS.keys()),
      fc.integer({ min: 20_000, max: 600_000 }),
      fc.array(fc.nat(600_000), { maxLength: 4 }),
      async (parts, name, bytes, at) => {
        const mapping = ON_THREADS.get(name);
        if (mapping === undefined) throw new Error(`no ${name}`);
        const once = inLines(parts);
        // An answer lists so many, by which their places are known.
        const times = Math.min(Math.ceil(bytes / once.length), Math.floor(900 / Math.max(1, (await tried(once, mapping)).letters.length)));
        const input = Buffer.concat(Array<Buffer>(Math.max(1, times)).fill(once));
        expect(await takenIn(chunksOf(input, at), threads, name)).toEqual(await tried(input, mapping));
      },
    ),
    { numRuns: propertyRuns(30) },
  );
});

test('a message of Kafka becomes what `mappings try` makes of it, but for ids made of its place, and the same each time', async () => {
  const seen = { events: 0, expired: 0, leftOut: 0, letters: 0 };
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(anyBytes, { maxLength: 5 }), form, anyMapping, async (parts, inForm, mapping) => {
      const [first, between, last] = FORMS[inForm];
      const value = joined(parts, between, last, first);
      // Behind a byte order mark an upload is read line by line, and a message that is one record may go over lines.
      fc.pre(!/^\ufeff[^\n]*\n./s.test(value.toString()));
      const { events, letters, isCutOff, ...counts } = await tried(value, mapping);
      const read = readMessage(value, mapping);
      expect(read).toEqual(readMessage(value, mapping));
      const { logIds: _, ...found } = read;
      // An element that is cut off is a letter, and so is a message in which nothing is.
      const isNothing = events.length + letters.length + counts.expired + counts.leftOut === 0 && firstByteOf(value) !== OPEN_BRACKET;
      const expected = letters.length + (isCutOff || isNothing ? 1 : 0);
      expect(found).toEqual({ ...counts, events: events.map(({ logId: __, ...event }) => event), letters: expected });
      for (const [what, count] of Object.entries(found))
        seen[what as keyof typeof seen] += Number(Array.isArray(count) ? count.length : count);
    }),
    { numRuns: propertyRuns(300) },
  );
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
});

test('over HTTP any bytes by any preset are answered 202 or 400, and each record is counted once', async () => {
  const type = fc.constantFrom('application/json', 'application/x-ndjson', 'text/plain');
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(anyBytes, { maxLength: 5 }), fc.constantFrom(...PRESETS.keys()), type, async (parts, name, contentType) => {
      const body = inLines(parts);
      const init = { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': contentType } };
      const answer = await ask(app, `/ingest/events?mapping=${name}&zone=7`, init);
      expect([202, 400]).toContain(answer.status);
      const mapping = PRESETS.get(name);
      if (contentType !== 'application/json' || mapping === undefined) return;
      const { events, letters, expired, leftOut, isCutOff } = await tried(body, mapping);
      expect(answer.status).toBe(isCutOff ? 400 : 202);
      if (isCutOff) return;
      const { accepted, expired: old, rejectedCount, leftOut: out } = answer.body;
      // The zone is given here and the only one there, so that no record has none.
      expect([accepted, old, rejectedCount, out]).toEqual([events.length, expired, letters.length, leftOut]);
    }),
    { numRuns: propertyRuns(150) },
  );
});
