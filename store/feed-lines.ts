import { TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { EVENT_SEPARATOR, LINE_PARTS, PART_SEPARATOR } from '../sql/feed-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import type { FeedEvent } from './event-store.ts';

/** The events in the lines of a bucket, by ascending sequence; null where one of their texts has a separator in it, so that nobody can tell. */
export function eventsInLines(lines: string, count: number, ingestedAt: (sequence: bigint) => number): FeedEvent[] | null {
  const texts = lines.split(EVENT_SEPARATOR);
  if (texts.length !== count) {
    return null;
  }
  const split = texts.map((text) => text.split(PART_SEPARATOR));
  if (split.some(({ length }) => length !== LINE_PARTS)) {
    return null;
  }
  const placed = split.map((parts) => ({ parts, sequence: Number(parts[0]) }));
  return placed.sort((a, b) => a.sequence - b.sequence).map(({ parts }) => eventOf(parts, ingestedAt));
}

function eventOf(parts: readonly string[], ingestedAt: (sequence: bigint) => number): FeedEvent {
  const sequence = BigInt(parts[0] as string);
  const fields: Partial<Record<TextField, string>> = {};
  for (let place = 0; place < TEXT_FIELDS.length; place += 1) {
    const marked = parts[4 + place] as string;
    if (marked !== '') {
      fields[TEXT_FIELDS[place] as TextField] = unmarkText(marked);
    }
  }
  return {
    sequence,
    zoneId: Number(parts[1]),
    timestamp: Number(parts[2]),
    ingestedAtMs: ingestedAt(sequence),
    logId: unmarkText(parts[3] as string),
    fields,
    logJson: parts[LINE_PARTS - 1] as string,
  };
}
