import type { FeedFormatName } from '../formats/feed-format.ts';

const TIME_FIELDS = { native: 'timestamp', ecs: '@timestamp', ocsf: 'time' } as const;

/** CEF's receipt time, which the feed writes first behind the seven fields of the header, in Unix milliseconds. */
const CEF_TIME = /^(?:(?:[^|\\]|\\.)*\|){7}rt=(-?\d{1,16})(?= |$)/;

/** The farthest that a Date reaches. */
const MAX_MS = 8_640_000_000_000_000;

/** The time of the event in a line of the feed, Unix ms UTC; null where it does not say. */
export function eventTimeMs(format: FeedFormatName, line: string): number | null {
  let timeMs: number;
  if (format === 'cef') {
    timeMs = Number(CEF_TIME.exec(line)?.[1] ?? Number.NaN);
  } else {
    const value = jsonField(line, TIME_FIELDS[format]);
    timeMs = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  }
  return Math.abs(timeMs) <= MAX_MS ? timeMs : null;
}

function jsonField(line: string, name: string): unknown {
  try {
    return (JSON.parse(line) as Readonly<Record<string, unknown>> | null)?.[name];
  } catch {
    // A line that is no JSON has no field; it is passed on as it is.
    return undefined;
  }
}
