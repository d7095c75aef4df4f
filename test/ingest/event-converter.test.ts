import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
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
      yield Buffer.from(rawEvent({ logId: undefined, ip: '::1' }));
      yield Buffer.from(rawEvent({ asn: 5, more: place }));
      yield Buffer.from(rawEvent({ timestamp: 0 }));
      yield Buffer.from(rawEvent({ shieldZoneId: 'no zone' }));
      yield Buffer.from(rawEvent({ url: 'x'.repeat(300_000) }));
    }
  }
}

test.each([
  ['from Kafka', () => 'topic-"0-1'],
  ['without a place', null],
])('events of all kinds together, %s, give the lines and the verdicts that scanning every one gives', (_from, place) => {
  const [converter, scanned] = [new EventConverter(RULES), new ScannedEvents(RULES)];
  const [lines, expected] = [new LineBuffer(), new LineBuffer()];
  for (const event of mixedEvents(200)) {
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

test('where there is no address space for a kernel, events are converted all the same', () => {
  const ingest = JSON.stringify(join(import.meta.dirname, '../../ingest/'));
  const program = `
    const { EventKernel } = await import(${ingest} + 'event-kernel.ts');
    const { EventConverter } = await import(${ingest} + 'event-converter.ts');
    const { LineBuffer } = await import(${ingest} + 'line-buffer.ts');
    const kernels = [];
    let hasRoom = true;
    while (hasRoom) try { kernels.push(new EventKernel()); } catch { hasRoom = false; }
    const converter = new EventConverter({ now: () => ${NOW}, retentionMs: ${HOUR} });
    const lines = new LineBuffer();
    const event = Buffer.from(${JSON.stringify(rawEvent())});
    for (let place = 0; place < 200; place++) converter.convert(event, null, lines);
    console.log(hasRoom, Buffer.concat(lines.take()).toString().split('\\n').length - 1);`;
  const limited = ['-c', 'ulimit -v 30000000 && exec "$0" --input-type=module -e "$1"', process.execPath, program];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'false 200\n', stderr: '' });
});
