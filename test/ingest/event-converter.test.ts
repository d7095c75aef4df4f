import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateEvents } from '../../bench/event-generator.ts';
import { ConvertedEvents } from '../../ingest/converted-events.ts';
import { EventConverter } from '../../ingest/event-converter.ts';
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
])('events of all kinds together, %s, give the lines, the logs and the verdicts that scanning every one gives', (_from, place) => {
  const [converter, scanned] = [new EventConverter(RULES), new ScannedEvents(RULES)];
  const [events, expected] = [new ConvertedEvents(), new ConvertedEvents()];
  for (const event of mixedEvents(200)) {
    expect(converter.convert(event, place, events)).toEqual(scanned.convert(event, place, expected));
  }
  expect(events.byteLength).toBe(expected.byteLength);
  const [converted, wanted] = [events.take(), expected.take()];
  expect(Buffer.concat(converted.lines).equals(Buffer.concat(wanted.lines))).toBe(true);
  expect(Buffer.concat(converted.logs).equals(Buffer.concat(wanted.logs))).toBe(true);
});

test('no line or log of an event is spread over two chunks', () => {
  const converter = new EventConverter(RULES);
  const events = new ConvertedEvents();
  for (const event of mixedEvents(3000)) {
    converter.convert(event, null, events);
  }
  const { lines, logs } = events.take();
  expect(Math.min(lines.length, logs.length)).toBeGreaterThan(3);
  for (const chunk of [...lines, ...logs]) {
    expect(chunk.at(0)).toBe('{'.charCodeAt(0));
    expect(chunk.at(-1)).toBe('\n'.charCodeAt(0));
  }
});

test('where there is no address space for a kernel, events are converted all the same', () => {
  const ingest = JSON.stringify(join(import.meta.dirname, '../../ingest/'));
  const program = `
    const { EventKernel } = await import(${ingest} + 'event-kernel.ts');
    const { EventConverter } = await import(${ingest} + 'event-converter.ts');
    const { ConvertedEvents } = await import(${ingest} + 'converted-events.ts');
    const kernels = [];
    let hasRoom = true;
    while (hasRoom) try { kernels.push(new EventKernel()); } catch { hasRoom = false; }
    const converter = new EventConverter({ now: () => ${NOW}, retentionMs: ${HOUR} });
    const events = new ConvertedEvents();
    const event = Buffer.from(${JSON.stringify(rawEvent())});
    for (let place = 0; place < 200; place++) converter.convert(event, null, events);
    console.log(hasRoom, Buffer.concat(events.take().lines).toString().split('\\n').length - 1);`;
  const limited = ['-c', 'ulimit -v 30000000 && exec "$0" --input-type=module -e "$1"', process.execPath, program];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'false 200\n', stderr: '' });
});
