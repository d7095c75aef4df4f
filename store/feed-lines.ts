import { TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { EVENT_SEPARATOR, LINE_PARTS, PART_SEPARATOR } from '../sql/feed-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import type { FeedEvent } from './event-store.ts';

/** An event in its parts, and the sequence they begin with. */
interface Split {
  readonly sequence: number;
  readonly parts: readonly string[];
}

/** Lines of so many events, in no order. */
export interface EventLines {
  readonly events: number;
  readonly lines: string;
}

/**
 * The events in the lines that have a sequence above `after` and up to `upTo`, in order; null where one of the texts has a separator in it, so that
 * nobody can tell.
 */
export function eventsInLines(
  texts: readonly EventLines[],
  { after, upTo }: { readonly after: bigint; readonly upTo: bigint },
  ingestedAt: (sequence: bigint) => number,
): FeedEvent[] | null {
  const events: Split[] = [];
  for (const text of texts) {
    const split = splitLines(text);
    if (split === null) {
      return null;
    }
    events.push(...split);
  }
  return events
    .filter(({ sequence }) => sequence > after && sequence <= upTo)
    .sort((a, b) => a.sequence - b.sequence)
    .map(({ parts }) => eventOf(parts, ingestedAt));
}

function splitLines({ lines, events }: EventLines): Split[] | null {
  const split: Split[] = [];
  for (const line of lines.split(EVENT_SEPARATOR)) {
    const parts = line.split(PART_SEPARATOR);
    if (parts.length !== LINE_PARTS) {
      return null;
    }
    split.push({ parts, sequence: Number(parts[0]) });
  }
  return split.length === events ? split : null;
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
