// Measures how fast events become lines of the feed, without the store: node bench/format-speed.ts [rounds]
import { TEXT_FIELDS } from '../query/event-fields.ts';
import { copiedChunk, writtenChunks } from '../src/feed/format-lines.ts';
import { LineLimit } from '../src/feed/line-limit.ts';
import { FEED_FORMAT_NAMES, FEED_FORMATS } from '../src/formats/feed-formats.ts';
import type { FeedLine } from '../store/event-store.ts';
import { generateEvents } from './events/event-generator.ts';

const EVENTS = 20_000;
const NOW_MS = 1_767_225_600_000;
const rounds = Number(process.argv[2] ?? 8);

function feedLine(wire: Buffer, index: number): FeedLine {
  const { shieldZoneId, timestamp, logId, log, ...rest } = JSON.parse(wire.toString('utf8'));
  const fields = Object.fromEntries(TEXT_FIELDS.filter((name) => rest[name] !== undefined).map((name) => [name, rest[name] as string]));
  const bytes = Buffer.from(JSON.stringify({ logId, shieldZoneId, timestamp, ...fields, log }));
  return { sequence: BigInt(index + 1), ingestedAtMs: NOW_MS, bytes, start: 0, end: bytes.length };
}

const options = { seed: 1, count: EVENTS, zones: 1700, nowMs: NOW_MS, spanMs: 3_600_000 };
const lines = Array.from(generateEvents(options), feedLine);

for (const name of FEED_FORMAT_NAMES) {
  let [bestNs, bytes] = [Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < rounds; round += 1) {
    const { isStored, createWriter } = FEED_FORMATS[name];
    const writeEvent = createWriter();
    const start = process.hrtime.bigint();
    bytes = 0;
    for (const chunk of isStored ? [copiedChunk(lines)] : writtenChunks(lines, writeEvent, new LineLimit(null))) {
      bytes += chunk.length;
    }
    bestNs = Math.min(bestNs, Number(process.hrtime.bigint() - start) / EVENTS);
  }
  const rate = Math.round(1e9 / bestNs);
  console.log(`${name.padEnd(8)} ${(bestNs / 1000).toFixed(2)} µs/event  ${rate} events/s  (${Math.round(bytes / EVENTS)} bytes each)`);
}
