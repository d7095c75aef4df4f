import type { FeedEvent } from '../../store/feed-event.ts';
import { CEF_ID, CEF_TIME, cefWriter } from './cef-format.ts';
import { MAX_DATE_MS } from './checked-values.ts';
import { ecsWriter } from './ecs-format.ts';
import { ocsfWriter } from './ocsf-format.ts';

/** Writes an event as one line, without the line end. It never fails. */
export type EventWriter = (event: FeedEvent) => string;

/**
 * A line of a format, and the time and id of its event in it: members of the JSON object, or patterns. The first group of `timePattern` is
 * Unix ms, that of `idPattern` the id. `idMembers` are the names on the way to the id.
 */
export type FormatLine =
  | { readonly kind: 'json'; readonly timeMember: string; readonly idMembers: readonly string[] }
  | { readonly kind: 'text'; readonly timePattern: RegExp; readonly idPattern: RegExp };

export interface FeedFormat {
  /** Follows the format's name in help texts and in /openapi.json. */
  readonly about: string;
  readonly line: FormatLine;
  /** Whether the store keeps lines in this format, so that they are copied instead of written. */
  readonly isStored: boolean;
  /** Makes a writer with caches of its own, which make it faster for many events. */
  readonly createWriter: () => EventWriter;
}

const FORMATS = {
  native: {
    about: 'as the intake takes it',
    line: { kind: 'json', timeMember: 'timestamp', idMembers: ['logId'] },
    isStored: true,
    createWriter: () => (event) => event.json,
  },
  ecs: {
    about: 'the Elastic Common Schema',
    line: { kind: 'json', timeMember: '@timestamp', idMembers: ['event', 'id'] },
    isStored: false,
    createWriter: ecsWriter,
  },
  ocsf: {
    about: 'HTTP Activity (4002) with the profile security_control',
    line: { kind: 'json', timeMember: 'time', idMembers: ['metadata', 'uid'] },
    isStored: false,
    createWriter: ocsfWriter,
  },
  cef: {
    about: 'the Common Event Format',
    line: { kind: 'text', timePattern: CEF_TIME, idPattern: CEF_ID },
    isStored: false,
    createWriter: cefWriter,
  },
} as const satisfies Record<string, FeedFormat>;

export type FeedFormatName = keyof typeof FORMATS;

/** The formats of the feed, by name. Routes, the command line, sinks and /openapi.json take all that they say about formats from here. */
export const FEED_FORMATS: Readonly<Record<FeedFormatName, FeedFormat>> = FORMATS;

export const FEED_FORMAT_NAMES = Object.keys(FORMATS) as readonly FeedFormatName[];

export const DEFAULT_FEED_FORMAT: FeedFormatName = 'native';

/** The media types of the feed in every format, because its last line is always a JSON object. */
export const FEED_MEDIA_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

/** Reads the time of the event, Unix ms, from a line of the feed; null where the line has none that a Date can hold. */
export function eventTimeMs(format: FeedFormatName, line: string): number | null {
  const { line: form } = FEED_FORMATS[format];
  const timeMs =
    form.kind === 'json' ? asTimeMs(memberOf(line, [form.timeMember])) : Number(form.timePattern.exec(line)?.[1] ?? Number.NaN);
  return Math.abs(timeMs) <= MAX_DATE_MS ? timeMs : null;
}

/** Reads the id by which receivers know the event of a line of the feed, as it is written there; null where the line has none. */
export function eventIdIn(format: FeedFormatName, line: string): string | null {
  const { line: form } = FEED_FORMATS[format];
  const id = form.kind === 'json' ? memberOf(line, form.idMembers) : form.idPattern.exec(line)?.[1];
  return typeof id === 'string' ? id : null;
}

function asTimeMs(value: unknown): number {
  return typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

/** The member at the end of these names; undefined where there is none. A line that is not JSON is delivered as it is, and has none. */
function memberOf(line: string, names: readonly string[]): unknown {
  try {
    return names.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | null)?.[name], JSON.parse(line));
  } catch {
    return undefined;
  }
}
