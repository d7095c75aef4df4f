import type { TextField } from '../query/event-fields.ts';
import type { FeedLine } from './event-store.ts';

/** An event of the feed, read. */
export interface FeedEvent {
  readonly sequence: bigint;
  readonly zoneId: number;
  /** Unix ms UTC. */
  readonly timestamp: number;
  /** Unix ms UTC: when its batch was taken in. */
  readonly ingestedAtMs: number;
  readonly logId: string;
  /** Those that the event has; it may have others beside them. */
  readonly fields: Readonly<Partial<Record<TextField, string>>>;
  /** The event as JSON on one line, its log the last member. */
  readonly json: string;
  /** The log, a JSON object; numbers in it may be rounded. Undefined where it was left out, or is damaged. */
  readonly log: unknown;
}

type Members = Readonly<Partial<Record<TextField, string>>> & {
  readonly logId: string;
  readonly shieldZoneId: number;
  readonly timestamp: number;
  readonly log?: unknown;
};

/** A quote inside of a text has a backslash before it, so this cannot be part of one. */
const LOG_KEY = ',"log":';

/** The event with all of it. */
export function readEvent(line: FeedLine): FeedEvent {
  const json = jsonOf(line);
  return eventOf(line, json, membersOf(json));
}

/** The event without its log, which takes most of the time. */
export function readFields(line: FeedLine): FeedEvent {
  const json = jsonOf(line);
  return eventOf(line, json, membersBeforeLog(json));
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
    // The store takes JSON objects for logs only. Should one be damaged, its event must not hold up all those behind it.
    return membersBeforeLog(json);
  }
}

function membersBeforeLog(json: string): Members {
  return JSON.parse(`${json.slice(0, json.indexOf(LOG_KEY))}}`);
}
