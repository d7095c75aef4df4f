import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generateEvents } from '../../../bench/events/event-generator.ts';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { FEED_FORMATS } from '../../../src/formats/feed-formats.ts';
import { PRODUCT } from '../../../src/formats/product.ts';
import type { EventStore } from '../../../store/event-store.ts';
import { type FeedEvent, readEvent } from '../../../store/feed-event.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';
import { NOW } from '../../fixtures/present.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { CORPUS } from './feed-events.ts';

async function fill(store: EventStore, lines: readonly string[]): Promise<void> {
  const builder = new BatchBuilder({ now: () => NOW, retentionMs: RETENTION_MS });
  for (const line of lines) {
    builder.addEvent('http', Buffer.from(line));
  }
  await store.append(builder.take());
}

async function fed(store: EventStore): Promise<readonly FeedEvent[]> {
  const { lines } = await store.readFeed({ zones: 'all', after: await store.positions.oldest(), limit: 100_000 });
  return lines.map(readEvent);
}

const hostileWire = HOSTILE_STRINGS.map(({ text }, index) =>
  JSON.stringify({
    logId: `h-${index}`,
    shieldZoneId: 3,
    timestamp: NOW,
    ua: text,
    url: text,
    ip: text,
    log: { [text]: text, Message: text },
  }),
);
const WIRE_EVENTS = [
  '{"logId":"n","shieldZoneId":1,"timestamp":1,"log":{}}'.replace('"timestamp":1', `"timestamp":${NOW}`),
  `{"logId":"big","shieldZoneId":1,"timestamp":${NOW},"asn":64500,"bytes":123456789012345678901234567890.10,"log":{"n":1e400,"n2":-0.0}}`,
  `{"logId":"nolog","shieldZoneId":-5,"timestamp":${NOW},"action":"blocked","extra":[1,{"deep":null}]}`,
  `{\n "shieldZoneId": 1,\r\n "timestamp": ${NOW},\n "log": {\n  "pretty": true\n }\n}`,
  ...hostileWire,
  ...Array.from(generateEvents({ seed: 3, count: 60, zones: 9, nowMs: NOW, spanMs: 60_000 }), (line) => line.toString('utf8').trimEnd()),
];

test('what the feed writes can be taken in again and is the same events', async () => {
  const first = await storeIn(temporaryFolder());
  await fill(first, WIRE_EVENTS);
  const events = await fed(first);
  expect(events).toHaveLength(WIRE_EVENTS.length);
  const writeEvent = FEED_FORMATS.native.createWriter();
  const second = await storeIn(temporaryFolder());
  await fill(
    second,
    events.map((event) => writeEvent(event)),
  );
  expect(await fed(second)).toEqual(events);
  expect(await second.stats()).toMatchObject({ deadLetters: 0, duplicateEvents: 0 });
});

test.each(['ecs', 'ocsf'] as const)('the original in %s is the native line', (name) => {
  const writeEvent = FEED_FORMATS[name].createWriter();
  for (const { name: what, event } of CORPUS) {
    const { event: ecsEvent, raw_data: rawData } = JSON.parse(writeEvent(event));
    expect([what, name === 'ecs' ? ecsEvent.original : rawData]).toEqual([what, event.json]);
  }
});

test('the product has the version of the package', () => {
  expect(PRODUCT.version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});
