import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateEvents } from '../../bench/event-generator.ts';
import { ConvertedEvents } from '../../ingest/converted-events.ts';
import { EventConverter } from '../../ingest/event-converter.ts';
import { ScannedEvents } from '../../ingest/scanned-events.ts';
import { decodedEvents } from './decoded-fields.ts';
import { HOUR, NOW, RULES, rawEvent } from './raw-events.ts';

/** Some usual ones, then ones of every other kind among them. */
function* mixedEvents(count: number): Iterable<Buffer> {
  let place = 0;
  for (const line of generateEvents({ seed: 5, count, zones: 9, nowMs: NOW, spanMs: HOUR })) {
    yield line.subarray(0, -1);
    if (place++ % 7 === 0) {
      yield Buffer.from(rawEvent({ logId: undefined, ip: 'nowhere' }));
      yield Buffer.from(rawEvent({ logId: undefined, ip: '::1' }));
      yield Buffer.from(rawEvent({ asn: 5, more: place }));
      yield Buffer.from(rawEvent({ timestamp: 0 }));
      yield Buffer.from(rawEvent({ shieldZoneId: 'no zone' }));
    }
    if (place % 100 === 0) {
      yield Buffer.from(rawEvent({ url: 'x'.repeat(300_000) }));
    }
  }
}

test.each([
  ['from Kafka', () => 'topic-"0-1'],
  ['from a place with a long name', () => `ü${'x'.repeat(2000)}`],
  ['from a place that is a UUID', () => '01234567-89ab-cdef-0f1e-2d3c4b5a6978'],
  ['without a place', null],
])('events of all kinds together, %s, give the columns, the logs and the verdicts that scanning every one gives', (_from, place) => {
  const [converter, scanned] = [new EventConverter(RULES), new ScannedEvents(RULES)];
  const expected = new ConvertedEvents();
  for (let batch = 0; batch < 2; batch++) {
    for (const event of mixedEvents(720)) {
      expect(converter.convert(event, place)).toEqual(scanned.convert(event, place, expected));
    }
    expect(converter.byteLength).toBe(expected.byteLength);
    const [converted, wanted] = [converter.take(), expected.take()];
    expect(converter.byteLength).toBe(0);
    const texts = ({ fields, logs }: typeof wanted) =>
      [...fields.values, fields.masks, logs].map((chunks) => Buffer.concat(chunks).toString('latin1'));
    expect(texts(converted)).toEqual(texts(wanted));
    converter.release(converted);
    expected.release(wanted);
  }
});

test('ids that are longer than their events are written whole', () => {
  const converter = new EventConverter(RULES);
  // Those of the first thousand are just not too long for the kernel.
  const lengths = [1, 300, 336, 337, 338, 1000, 1024, 1025, 100_000];
  const places = Array.from(
    { length: 1500 },
    (_, place) => `${place}-${'x'.repeat(lengths[place % (place < 1000 ? 3 : lengths.length)] ?? 0)}`,
  );
  const event = Buffer.from(rawEvent({ logId: undefined, feature: 'waf', url: '/?a', ip: '::1' }));
  for (const place of places) {
    expect(converter.convert(event, () => place)).toEqual({ kind: 'accepted' });
  }
  const { fields } = converter.take();
  const rest = { shieldZoneId: 7, timestamp: BigInt(NOW), feature: 'waf', url: '/?a', ip: '::1', ipHigh: 0n, ipLow: 1n };
  expect(decodedEvents(fields)).toEqual(places.map((logId) => ({ logId, ...rest })));
});

test('no log of an event is spread over two chunks', () => {
  const converter = new EventConverter(RULES);
  for (const event of mixedEvents(3000)) {
    converter.convert(event, null);
  }
  const { logs } = converter.take();
  expect(logs.length).toBeGreaterThan(3);
  for (const chunk of logs) {
    expect(chunk.at(0)).toBe('{'.charCodeAt(0));
    expect(chunk.at(-1)).toBe('\n'.charCodeAt(0));
  }
});

test('an event whose place cannot be told leaves nothing behind', () => {
  const converter = new EventConverter(RULES);
  const withoutId = Buffer.from(rawEvent({ logId: undefined, ip: '::1', url: '/?x' }));
  const fails = () => {
    throw new Error('no place');
  };
  for (let event = 0; event < 100; event++) {
    expect(() => converter.convert(withoutId, fails)).toThrow('no place');
    expect(converter.convert(withoutId, () => `p${event}`)).toEqual({ kind: 'accepted' });
  }
  const ids = decodedEvents(converter.take().fields).map(({ logId }) => logId);
  expect(ids).toEqual(Array.from({ length: 100 }, (_, event) => `p${event}`));
});

test('where there is no address space for a kernel, events are converted all the same', () => {
  const ingest = JSON.stringify(join(import.meta.dirname, '../../ingest/'));
  const program = `
    const { EventKernel } = await import(${ingest} + 'event-kernel.ts');
    const { EventConverter } = await import(${ingest} + 'event-converter.ts');
    const kernels = [];
    let hasRoom = true;
    while (hasRoom) try { kernels.push(new EventKernel()); } catch { hasRoom = false; }
    const converter = new EventConverter({ now: () => ${NOW}, retentionMs: ${HOUR} });
    const event = Buffer.from(${JSON.stringify(rawEvent())});
    for (let place = 0; place < 200; place++) converter.convert(event, null);
    console.log(hasRoom, Buffer.concat(converter.take().fields.masks).length / 4);`;
  const limited = ['-c', 'ulimit -v 30000000 && exec "$0" --input-type=module -e "$1"', process.execPath, program];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'false 200\n', stderr: '' });
});
