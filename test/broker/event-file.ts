import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { generateEvents } from '../../bench/events/event-generator.ts';

/** All events of these files are of this zone. */
export const ZONE = 1;

const LOG_ID = Buffer.from('"logId":"');

/** Writes events, a line each, and returns their ids in that order. */
export async function writeEventFile(path: string, count: number, seed: number): Promise<string[]> {
  const ids: string[] = [];
  function* lines(): Iterable<Buffer> {
    for (const line of generateEvents({ seed, count, zones: 1, nowMs: Date.now(), spanMs: 71 * 3_600_000 })) {
      ids.push(logIdOf(line));
      yield line;
    }
  }
  await pipeline(Readable.from(lines(), { highWaterMark: 1000 }), createWriteStream(path));
  return ids;
}

/** The id in a line of the event generator. */
export function logIdOf(line: Buffer): string {
  const start = line.indexOf(LOG_ID) + LOG_ID.byteLength;
  return line.toString('latin1', start, line.indexOf('"', start));
}

/** One event as a producer sends it. */
export function eventMessage(logId: string, more: Readonly<Record<string, unknown>> = {}): Buffer {
  return Buffer.from(JSON.stringify({ logId, shieldZoneId: ZONE, timestamp: Date.now(), action: 'blocked', ...more }));
}
