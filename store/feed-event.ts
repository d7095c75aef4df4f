import type { TextField } from '../query/event-fields.ts';
import type { FeedLine } from './event-store.ts';

/** An event of the feed, parsed from its line. */
export interface FeedEvent {
  readonly sequence: bigint;
  readonly zoneId: number;
  /** Unix ms UTC. */
  readonly timestamp: number;
  /** Unix ms UTC at which its batch was taken in. */
  readonly ingestedAtMs: number;
  readonly logId: string;
  /** The text fields of the event, possibly with members of other names. */
  readonly fields: Readonly<Partial<Record<TextField, string>>>;
  /** The event as JSON on one line, its log the last member. */
  readonly json: string;
  /** The log, a JSON object whose numbers may be rounded. Undefined where it was not read, or is damaged. */
  readonly log: unknown;
}

type Members = Readonly<Partial<Record<TextField, string>>> & {
  readonly logId: string;
  readonly shieldZoneId: number;
  readonly timestamp: number;
  readonly log?: unknown;
};

/** The beginning of the member with the log. It cannot occur within a string, where a quote follows a backslash. */
const LOG_KEY = ',"log":';

/** Parses the whole event. */
export function readEvent(line: FeedLine): FeedEvent {
  const json = jsonOf(line);
  return eventOf(line, json, membersOf(json));
}

/** Parses the event without its log, which takes most of the time. */
export function readFields(line: FeedLine): FeedEvent {
  const json = jsonOf(line);
  return eventOf(line, json, membersBeforeLog(json));
}

/** The line of an event with `{"shortenedBytes":N}` in place of its log of N bytes. */
export function withShortenedLog(line: FeedLine): FeedLine {
  const stored = line.bytes.subarray(line.start, line.end);
  const key = stored.indexOf(LOG_KEY);
  if (key < 0) return line;
  const begin = key + LOG_KEY.length;
  const rest = Buffer.from(`{"shortenedBytes":${stored.length - begin - 1}}}`);
  const bytes = Buffer.concat([stored.subarray(0, begin), rest]);
  return { ...line, bytes, start: 0, end: bytes.length };
}

function jsonOf({ bytes, start, end }: FeedLine): string {
  return bytes.toString('utf8', start, end);
}

function eventOf({ sequence, ingestedAtMs }: FeedLine, json: string, members: Members): FeedEvent {
  const { shieldZoneId, timestamp, logId, log } = members;
  return { sequence, zoneId: shieldZoneId, timestamp, ingestedAtMs, logId, fields: members, json, log };
}

function membersOf(json: string): Members {
  try {
    return JSON.parse(json);
  } catch {
    // Logs are JSON objects. A damaged one must not keep the reader from the events behind it.
    return membersBeforeLog(json);
  }
}

function membersBeforeLog(json: string): Members {
  const logAt = json.indexOf(LOG_KEY);
  return JSON.parse(logAt < 0 ? json : `${json.slice(0, logAt)}}`);
}
