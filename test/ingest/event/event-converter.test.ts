import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { generateEvents } from '../../../bench/events/event-generator.ts';
import { SeededRandom } from '../../../bench/events/seeded-random.ts';
import { EventCollector } from '../../../ingest/event/event-collector.ts';
import { EventConverter } from '../../../ingest/event/event-converter.ts';
import type { RecordValues } from '../../../ingest/event/event-kernel.ts';
import { EventScanner } from '../../../ingest/event/event-scanner.ts';
import type { EventVerdict } from '../../../ingest/event/event-verdict.ts';
import { type EventReceiver, NdjsonSplitter } from '../../../ingest/upload/event-splitters.ts';
import { decodedEvents } from './decoded-fields.ts';
import { LONGEST_KERNEL_EVENT, ofBytes } from './kernel-events.ts';
import { HOUR, NOW, RULES, rawEvent } from './raw-events.ts';

/** Some usual ones, then ones of every other kind among them. */
function* mixedEvents(count: number): Iterable<Buffer> {
  let index = 0;
  for (const line of generateEvents({ seed: 5, count, zones: 9, nowMs: NOW, spanMs: HOUR })) {
    yield line.subarray(0, -1);
    if (index++ % 7 === 0) {
      yield Buffer.from(rawEvent({ logId: undefined, ip: 'nowhere' }));
      yield Buffer.from(rawEvent({ logId: undefined, ip: '::1' }));
      yield Buffer.from(rawEvent({ asn: 5, more: index }));
      yield Buffer.from(rawEvent({ timestamp: 0 }));
      yield Buffer.from(rawEvent({ shieldZoneId: 'no zone' }));
    }
    if (index % 100 === 0) {
      yield Buffer.from(rawEvent({ url: 'x'.repeat(300_000) }));
    }
  }
}

const textsOf = ({ fields, logs }: ReturnType<EventCollector['take']>) =>
  [...fields.values, fields.masks, logs].map((chunks) => Buffer.concat(chunks).toString('latin1'));

/** A converter, and what takes its events. */
function converting() {
  const events = new EventCollector();
  const converter = new EventConverter(RULES, events);
  const taken = () => {
    converter.drain();
    return events.take();
  };
  return { converter, taken, release: (taken: Parameters<EventCollector['release']>[0]) => events.release(taken) };
}

/** Adds the lines of a chunk, and returns those that are no usual ones. */
function convertAll(converter: EventConverter, chunk: Buffer): Uint8Array[] {
  const others: Uint8Array[] = [];
  for (let at = converter.convertLines(chunk, 0); at < chunk.length; at = converter.convertLines(chunk, at)) {
    const end = chunk.indexOf('\n', at);
    const line = chunk.subarray(at, end);
    expect(converter.convert(line, null)).toEqual({ kind: 'accepted' });
    others.push(line);
    at = end + 1;
  }
  return others;
}

test.each([
  ['from Kafka', () => 'topic-"0-1'],
  ['from a topic with a long name', () => `ü${'x'.repeat(2000)}`],
  ['from a source id that is a UUID', () => '01234567-89ab-cdef-0f1e-2d3c4b5a6978'],
  ['not from Kafka', null],
])('events of all kinds together, %s, give the columns, the logs and the verdicts that scanning every one gives', (_from, sourceId) => {
  const [{ converter, taken, release }, scanned] = [converting(), new EventScanner(RULES)];
  const expected = new EventCollector();
  for (let batch = 0; batch < 2; batch++) {
    for (const event of mixedEvents(720)) {
      expect(converter.convert(event, sourceId)).toEqual(scanned.convert(event, sourceId, expected));
    }
    expect(converter.byteLength).toBe(expected.byteLength);
    const [converted, wanted] = [taken(), expected.take()];
    expect(converter.byteLength).toBe(0);
    expect(textsOf(converted)).toEqual(textsOf(wanted));
    release(converted);
    expected.release(wanted);
  }
});

test.each([64 * 1024 * 1024, 1_000_000, 65_537, 65_536, 4_099, 700])(
  'lines of all kinds, in chunks of %i bytes, give the columns, the logs and the verdicts that scanning every event gives, in their order',
  (chunkBytes) => {
    const [{ converter, taken }, scanned] = [converting(), new EventScanner(RULES)];
    const events = [...mixedEvents(720), Buffer.from(rawEvent({ ua: 'x'.repeat(LONGEST_KERNEL_EVENT) })), Buffer.from(rawEvent())];
    const expected = new EventCollector();
    const wanted = events.map((event) => scanned.convert(event, null, expected));
    const endings = ['\n', '\r\n', '\n \n', '\n\r\n\n'];
    const input = Buffer.concat(events.flatMap((event, index) => [event, Buffer.from(endings[index % endings.length] ?? '')]));
    const verdicts: EventVerdict[] = [];
    const receiver: EventReceiver = {
      event: (bytes) => verdicts.push(converter.convert(bytes, null)),
      tryEvent: () => false,
      converted: (count) => verdicts.push(...Array(count).fill({ kind: 'accepted' })),
      tooLong: () => {},
      stray: (_bytes, reason) => verdicts.push({ kind: 'rejected', reason, zoneId: null }),
      unclosed: () => {},
      newlines: () => {},
    };
    const splitter = new NdjsonSplitter(converter);
    for (let start = 0; start < input.length; start += chunkBytes) {
      const chunk = Buffer.from(input.subarray(start, start + chunkBytes));
      splitter.push(chunk, receiver);
      // The memory of a chunk may be used again after the call.
      chunk.fill(0);
    }
    splitter.end(receiver);
    expect(verdicts).toEqual(wanted);
    const [converted, scannedOnly] = [taken(), expected.take()];
    expect(textsOf(converted)).toEqual(textsOf(scannedOnly));
    expect(converted.eventCount).toBe(scannedOnly.eventCount);
  },
);

/** The values one after the other, with bytes between that belong to none; null for one that is absent. */
function recordsOf(values: readonly (Uint8Array | null)[], between: Buffer): RecordValues {
  const [pieces, starts, ends]: [Uint8Array[], number[], number[]] = [[], [], []];
  let at = 0;
  for (const value of values) {
    pieces.push(between, value ?? between);
    starts.push(value === null ? -1 : at + between.length);
    at += between.length + (value ?? between).length;
    ends.push(at);
  }
  return { bytes: Buffer.concat(pieces), count: values.length, starts: Int32Array.from(starts), ends: Int32Array.from([...ends, 0]) };
}

/** Adds the values from an index on, and returns the verdicts on them; null for one that is absent. */
function convertRecords(
  converter: EventConverter,
  records: RecordValues,
  sourceId: (index: number) => string,
  from = 0,
): (EventVerdict | null)[] {
  const verdicts: (EventVerdict | null)[] = [];
  for (let index = from; index < records.count; index++) {
    const stopped = converter.convertRecords(records, index, sourceId);
    verdicts.push(...Array(stopped - index).fill({ kind: 'accepted' }));
    index = stopped;
    if (index === records.count) break;
    const [start, end] = [records.starts[index] ?? -1, records.ends[index]];
    const at = index;
    verdicts.push(start < 0 ? null : converter.convert(records.bytes.subarray(start, end), () => sourceId(at)));
  }
  return verdicts;
}

const sourceIds: readonly (readonly [name: string, sourceId: (index: number) => string])[] = [
  ['short ids', (index) => `topic-0-${index}`],
  ['ids that are longer than their events', (index) => `${'t'.repeat(249)}-0-${index}`],
  ['ids that are too long for the kernel', (index) => `${'t'.repeat(400)}-0-${index}`],
];
const betweens = ['', '}', '"{"a":\\', '\n'.repeat(70)].map((text) => Buffer.from(text));

test.each(sourceIds.flatMap(([name, sourceId]) => betweens.map((between) => [String(between).length, name, between, sourceId] as const)))(
  'records of all kinds with %i bytes between, and %s, give what scanning every one gives',
  (_bytes, _name, between, sourceId) => {
    const [{ converter, taken }, scanned] = [converting(), new EventScanner(RULES)];
    const shortest = Array.from({ length: 700 }, (_, zone) =>
      Buffer.from(`{"log":{},"feature":"waf","shieldZoneId":${zone},"timestamp":${NOW}}`),
    );
    const values: (Buffer | null)[] = [
      ...shortest.slice(0, 50),
      ...mixedEvents(300),
      null,
      null,
      Buffer.alloc(0),
      Buffer.from(' '),
      Buffer.from(`[${rawEvent()}]`),
      Buffer.from(`\0${rawEvent()}`),
      Buffer.from(rawEvent({ ua: 'x'.repeat(LONGEST_KERNEL_EVENT) })),
      ...shortest,
      ...[-1, 0, 1].map((more) => Buffer.from(ofBytes(LONGEST_KERNEL_EVENT + more))),
      null,
      ...shortest.slice(0, 5),
    ];
    const expected = new EventCollector();
    const wanted = values.map((value, index) => (value === null ? null : scanned.convert(value, () => sourceId(index), expected)));
    expect(convertRecords(converter, recordsOf(values, between), sourceId)).toEqual(wanted);
    const [converted, scannedOnly] = [taken(), expected.take()];
    expect(textsOf(converted)).toEqual(textsOf(scannedOnly));
    expect(converted.eventCount).toBe(scannedOnly.eventCount);
  },
);

test('records are converted from any index on, and those of another batch in the same memory are others', () => {
  const { converter, taken } = converting();
  const named = (name: string) => Array.from({ length: 600 }, (_, index) => Buffer.from(rawEvent({ logId: `${name}-${index}` })));
  const records = recordsOf([...named('a')], Buffer.from('--'));
  const other = recordsOf([...named('b')], Buffer.from('--'));
  convertRecords(converter, records, String, 570);
  convertRecords(converter, records, String, 40);
  records.bytes.set(other.bytes);
  convertRecords(converter, { ...other, bytes: records.bytes.subarray() }, String, 590);
  const ids = (name: string, from: number) => Array.from({ length: 600 - from }, (_, index) => `${name}-${from + index}`);
  expect(decodedEvents(taken().fields).map(({ logId }) => logId)).toEqual([...ids('a', 570), ...ids('a', 40), ...ids('b', 590)]);
});

test('records and lines of the same memory do not take each other for their own', () => {
  const { converter, taken } = converting();
  const values = Array.from({ length: 300 }, (_, index) =>
    Buffer.from(index === 30 || index === 250 ? rawEvent({ more: 1 }) : rawEvent({ logId: `${index}`, ua: 'x'.repeat(600) })),
  );
  const records = recordsOf(values, Buffer.from('\n'));
  for (const value of values.slice(0, 25)) converter.convert(value, null);
  expect(converter.convertRecords(records, 0, String)).toBe(30);
  expect(converter.convertLines(records.bytes, records.starts[100] ?? 0)).toBe(records.starts[250]);
  expect(converter.convertRecords(records, 31, String)).toBe(250);
  expect(converter.convertRecords(records, 251, String)).toBe(300);
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `${from + index}`);
  const ids = [...range(0, 25), ...range(0, 30), ...range(100, 250), ...range(31, 250), ...range(251, 300)];
  expect(decodedEvents(taken().fields).map(({ logId }) => logId)).toEqual(ids);
});

test('a line that stands where the memory of the kernel ends is not lost, nor is what comes behind it', () => {
  for (const bytes of [LONGEST_KERNEL_EVENT - 2, LONGEST_KERNEL_EVENT - 1, LONGEST_KERNEL_EVENT, LONGEST_KERNEL_EVENT + 1]) {
    const { converter, taken } = converting();
    const lines = [...Array(30).fill(rawEvent()), ofBytes(bytes), rawEvent({ logId: 'behind' })].map((line) => Buffer.from(`${line}\n`));
    const others = convertAll(converter, Buffer.concat(lines)).map(({ length }) => length);
    expect(converter.eventCount).toBe(lines.length);
    const ids = decodedEvents(taken().fields).map(({ logId }) => logId);
    expect(ids).toEqual([...Array(31).fill('a'), 'behind']);
    expect(others).toEqual(bytes < LONGEST_KERNEL_EVENT ? [] : [bytes]);
  }
});

test('events that come between two calls for the same chunk do not take the room of its lines', () => {
  const { converter, taken } = converting();
  const rest = { feature: 'waf', ruleId: '1', ruleName: 'r', ip: '::1', ja4: 'j', url: '/?a', asn: '5', country: 'DE', action: 'block' };
  const eventsOf = (name: string, count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    return ids.map((logId) => Buffer.from(rawEvent({ logId, ...rest, ua: 'x'.repeat(600) })));
  };
  for (const event of eventsOf('first', 30)) converter.convert(event, null);
  // All of these lines are in the memory of the kernel when it stops at the blank one.
  const behind = eventsOf('behind', 70);
  const chunk = Buffer.concat([Buffer.from('\n'), ...behind.flatMap((event) => [event, Buffer.from('\n')])]);
  expect(chunk.length).toBeLessThan(LONGEST_KERNEL_EVENT);
  const wanted = [...eventsOf('first', 30)];
  for (let count = 1; count < 100; count += 7) {
    expect(converter.convertLines(chunk, 0)).toBe(0);
    const between = eventsOf(`between-${count}`, count);
    for (const event of between) converter.convert(event, null);
    expect(converter.convertLines(chunk, 1)).toBe(chunk.length);
    wanted.push(...between, ...behind);
  }
  const { fields, eventCount } = taken();
  const scanned = new EventScanner(RULES);
  const expected = new EventCollector();
  for (const event of wanted) scanned.convert(event, null, expected);
  expect(decodedEvents(fields)).toEqual(decodedEvents(expected.take().fields));
  expect(eventCount).toBe(wanted.length);
});

/** The ways in which events come, each with a pause after every call of the converter. */
const ways = [
  function* byLines(converter: EventConverter, events: readonly Buffer[]) {
    const chunk = Buffer.concat(events.flatMap((event) => [event, Buffer.from('\n')]));
    for (let at = converter.convertLines(chunk, 0); at < chunk.length; at = converter.convertLines(chunk, at)) {
      yield;
      const end = chunk.indexOf('\n', at);
      converter.convert(chunk.subarray(at, end), null);
      yield;
      at = end + 1;
    }
  },
  function* byRecords(converter: EventConverter, events: readonly Buffer[]) {
    const records = recordsOf(events, Buffer.from('-'));
    for (let index = 0; index < events.length; index++) {
      index = converter.convertRecords(records, index, String);
      yield;
      const event = events[index];
      if (event !== undefined) converter.convert(event, null);
      yield;
    }
  },
  function* oneByOne(converter: EventConverter, events: readonly Buffer[]) {
    for (const event of events) {
      converter.convert(event, null);
      yield;
    }
  },
];

test('inputs that come in turn get each their own events, in whichever way these come, and with batches that are taken between', () => {
  const random = new SeededRandom(3);
  const inputs = [...ways, ...ways].map((way, input) => {
    const withIds = [...mixedEvents(300)].filter((event) => event.includes('logId'));
    const events = withIds.map((event) => Buffer.from(event.toString().replace('"ua":"', `$&${input} `)));
    const [{ converter, taken }, scanned] = [converting(), new EventScanner(RULES)];
    const expected = new EventCollector();
    for (const event of events) scanned.convert(event, null, expected);
    return { steps: way(converter, events), taken, batches: [] as string[][], expected: textsOf(expected.take()) };
  });
  const left = new Set(inputs);
  for (let input = inputs[0]; input !== undefined; input = [...left][random.below(Math.max(left.size, 1))]) {
    if (input.steps.next().done === true) left.delete(input);
    if (random.below(20) === 0) input.batches.push(textsOf(input.taken()));
  }
  for (const { batches, taken, expected } of inputs) {
    batches.push(textsOf(taken()));
    expect(batches.reduce((texts, batch) => texts.map((text, column) => text + batch[column]))).toEqual(expected);
  }
});

test('many events without an id on lines get the digests of their bytes', () => {
  const { converter, taken } = converting();
  const shortest = Array.from({ length: 5000 }, (_, zone) => `{"log":{},"shieldZoneId":${zone},"timestamp":${NOW}}`);
  convertAll(converter, Buffer.from(shortest.map((event) => ` ${event}\r\n`).join('')));
  const expected = shortest.map((event, zone) => [zone, createHash('sha256').update(event).digest('hex').slice(0, 32)]);
  expect(decodedEvents(taken().fields).map(({ shieldZoneId, logId }) => [shieldZoneId, logId])).toEqual(expected);
});

test('ids that are longer than their events are written whole', () => {
  const { converter, taken } = converting();
  // Those of the first thousand are just not too long for the kernel.
  const lengths = [1, 300, 336, 337, 338, 1000, 1024, 1025, 100_000];
  const sourceIds = Array.from(
    { length: 1500 },
    (_, index) => `${index}-${'x'.repeat(lengths[index % (index < 1000 ? 3 : lengths.length)] ?? 0)}`,
  );
  const event = Buffer.from(rawEvent({ logId: undefined, feature: 'waf', url: '/?a', ip: '::1' }));
  for (const sourceId of sourceIds) {
    expect(converter.convert(event, () => sourceId)).toEqual({ kind: 'accepted' });
  }
  const { fields } = taken();
  const rest = { shieldZoneId: 7, timestamp: BigInt(NOW), feature: 'waf', url: '/?a', ip: '::1', ipHigh: 0n, ipLow: 1n };
  expect(decodedEvents(fields)).toEqual(sourceIds.map((logId) => ({ logId, ...rest })));
});

test('no log of an event is spread over two chunks', () => {
  const { converter, taken } = converting();
  for (const event of mixedEvents(3000)) {
    converter.convert(event, null);
  }
  const { logs } = taken();
  expect(logs.length).toBeGreaterThan(3);
  for (const chunk of logs) {
    expect(chunk.at(0)).toBe('{'.charCodeAt(0));
    expect(chunk.at(-1)).toBe('\n'.charCodeAt(0));
  }
});

test('an event whose source id cannot be told leaves nothing behind', () => {
  const { converter, taken } = converting();
  const withoutId = Buffer.from(rawEvent({ logId: undefined, ip: '::1', url: '/?x' }));
  const fails = () => {
    throw new Error('no source id');
  };
  for (let event = 0; event < 100; event++) {
    expect(() => converter.convert(withoutId, fails)).toThrow('no source id');
    expect(converter.convert(withoutId, () => `p${event}`)).toEqual({ kind: 'accepted' });
  }
  const ids = decodedEvents(taken().fields).map(({ logId }) => logId);
  expect(ids).toEqual(Array.from({ length: 100 }, (_, event) => `p${event}`));
});

test('the bytes of an input are not kept once it was drained, even if it ended in the middle of a line', async () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const { converter, taken } = converting();
  const begun = () => {
    const chunk = Buffer.from(`${rawEvent()}\n${rawEvent().slice(0, 50)}`);
    expect(converter.convertLines(chunk, 0)).toBeGreaterThan(0);
    expect(converter.convertLines(chunk, chunk.indexOf('\n') + 1)).toBeLessThan(chunk.length);
    return new WeakRef(chunk);
  };
  const declined = () => {
    const chunk = Buffer.from(`${rawEvent()}\n${rawEvent({ asn: 5 })}\n`);
    converter.convertLines(chunk, 0);
    return new WeakRef(chunk);
  };
  for (const chunkOf of [begun, declined]) {
    const chunk = chunkOf();
    expect(taken().eventCount).toBe(1);
    await nextTurn();
    gc();
    expect(chunk.deref()).toBe(undefined);
  }
});

test('where there is no address space for a kernel, events are converted all the same, and by a kernel once there is room', () => {
  const ingest = JSON.stringify(join(import.meta.dirname, '../../../ingest/event/'));
  const program = `
    const { EventKernel } = await import(${ingest} + 'event-kernel.ts');
    const { EventConverter } = await import(${ingest} + 'event-converter.ts');
    const { EventCollector } = await import(${ingest} + 'event-collector.ts');
    const kernels = [];
    let hasRoom = true;
    while (hasRoom) try { kernels.push(new EventKernel()); } catch { hasRoom = false; }
    const events = new EventCollector();
    const converter = new EventConverter({ now: () => ${NOW}, retentionMs: ${HOUR} }, events);
    const event = Buffer.from(${JSON.stringify(rawEvent())});
    for (let index = 0; index < 200; index++) converter.convert(event, null);
    const lines = Buffer.concat([event, Buffer.from('\\n')]);
    const before = converter.convertLines(lines, 0);
    kernels.length = 0;
    await new Promise((resolve) => setImmediate(resolve));
    gc();
    const next = new EventConverter({ now: () => ${NOW}, retentionMs: ${HOUR} }, new EventCollector());
    console.log(hasRoom, Buffer.concat(events.take().fields.masks).length / 4, before, next.convertLines(lines, 0) === lines.length);`;
  const limited = ['-c', 'ulimit -v 30000000 && exec "$0" --expose-gc --input-type=module -e "$1"', process.execPath, program];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'false 200 0 true\n', stderr: '' });
});
