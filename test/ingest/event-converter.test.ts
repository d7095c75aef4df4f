import { expect, test } from 'vitest';
import { generateEvents } from '../../bench/event-generator.ts';
import { EventConverter } from '../../ingest/event-converter.ts';
import { LineBuffer } from '../../ingest/line-buffer.ts';
import { ScannedEvents } from '../../ingest/scanned-events.ts';
import { HOUR, NOW, RULES, rawEvent } from './raw-events.ts';

/** Some usual ones, then ones of every other kind among them. */
function* mixedEvents(count: number): Iterable<Buffer> {
  let place = 0;
  for (const line of generateEvents({ seed: 5, count, zones: 9, nowMs: NOW, spanMs: HOUR })) {
    yield line.subarray(0, -1);
    if (place++ % 7 === 0) {
      yield Buffer.from(rawEvent({ logId: undefined, ip: 'nowhere' }));
      yield Buffer.from(rawEvent({ asn: 5, more: place }));
      yield Buffer.from(rawEvent({ timestamp: 0 }));
      yield Buffer.from(rawEvent({ shieldZoneId: 'no zone' }));
      yield Buffer.from(rawEvent({ url: 'x'.repeat(300_000) }));
    }
  }
}

test('events of all kinds together give the lines and the verdicts that scanning every one gives', () => {
  const [converter, scanned] = [new EventConverter(RULES), new ScannedEvents(RULES)];
  const [lines, expected] = [new LineBuffer(), new LineBuffer()];
  for (const event of mixedEvents(200)) {
    const place = () => 'topic-0-1';
    expect(converter.convert(event, place, lines)).toEqual(scanned.convert(event, place, expected));
  }
  expect(lines.byteLength).toBe(expected.byteLength);
  expect(Buffer.concat(lines.take()).equals(Buffer.concat(expected.take()))).toBe(true);
});

test('no line of an event is spread over two chunks', () => {
  const converter = new EventConverter(RULES);
  const lines = new LineBuffer();
  for (const event of mixedEvents(3000)) {
    converter.convert(event, null, lines);
  }
  const chunks = lines.take();
  expect(chunks.length).toBeGreaterThan(3);
  for (const chunk of chunks) {
    expect(chunk.at(0)).toBe('{'.charCodeAt(0));
    expect(chunk.at(-1)).toBe('\n'.charCodeAt(0));
  }
});
