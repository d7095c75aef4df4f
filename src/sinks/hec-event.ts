import type { FeedFormatName } from '../formats/feed-format.ts';
import { eventTimeMs } from './event-time.ts';

/** What every event says of itself beside its time; null is not sent, and Splunk's own default for the token is taken. */
export interface HecFields {
  readonly source: string;
  readonly sourcetype: string;
  readonly index: string | null;
  readonly host: string | null;
}

/**
 * One event of Splunk's HTTP event collector: the line of the feed as `event`, an object where it is one, byte for byte; `time` in Unix
 * seconds with milliseconds.
 */
export function hecEvent(format: FeedFormatName, fields: HecFields, line: string): string {
  const timeMs = eventTimeMs(format, line);
  // As text, because a number of seconds times a thousand is not always the milliseconds again.
  const time =
    timeMs === null || timeMs < 0 ? '' : `"time":${Math.trunc(timeMs / 1_000)}.${String(Math.trunc(timeMs % 1_000)).padStart(3, '0')},`;
  const named = JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));
  const event = format === 'cef' ? JSON.stringify(line) : line;
  return `{${time}${named.slice(1, -1)},"event":${event}}`;
}
