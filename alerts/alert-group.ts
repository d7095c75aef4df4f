import { createHash } from 'node:crypto';
import type { GroupDimension } from '../query/event-fields.ts';
import type { FeedEvent } from '../store/feed-event.ts';

/** So many bytes of a value are kept, with a hash of the whole. */
export const KEPT_BYTES = 256;

/** A value of a group, as far as it is kept. */
export interface GroupValue {
  /** Its first 256 bytes, cut at a letter. */
  readonly text: string;
  /** The SHA-256 of the whole in hex; absent where `text` is the whole. */
  readonly sha256?: string;
}

/** An event that a rule counts. */
export type CountedEvent = Pick<FeedEvent, 'zoneId' | 'timestamp' | 'ingestedAtMs' | 'fields'>;

/** The value of an event in a dimension; undefined where it has none. */
export function fieldValue({ zoneId, fields }: CountedEvent, dimension: GroupDimension): string | undefined {
  return dimension === 'shieldZoneId' ? String(zoneId) : fields[dimension];
}

/** A value as far as it is kept. */
export function keptValue(value: string): GroupValue {
  // A UTF-16 unit has three bytes at most.
  if (value.length * 3 <= KEPT_BYTES) {
    return { text: value };
  }
  const bytes = Buffer.from(value);
  if (bytes.length <= KEPT_BYTES) {
    return { text: value };
  }
  let end = KEPT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end -= 1;
  }
  return { text: bytes.toString('utf8', 0, end), sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** A text that tells groups, or values, apart. */
export function groupKey(values: readonly GroupValue[]): string {
  return JSON.stringify(values.map(({ text, sha256 }) => (sha256 === undefined ? text : [text, sha256])));
}

/** The values of a text that {@link groupKey} made. */
export function groupValues(key: string): readonly GroupValue[] {
  const values: readonly (string | readonly [string, string])[] = JSON.parse(key);
  return values.map((value) => (typeof value === 'string' ? { text: value } : { text: value[0], sha256: value[1] }));
}

/**
 * The id of an alert, 32 hex digits, from the rule, the values of its group and the begin of the window of its first hit: the same events
 * in the same order give the same alert, wherever and whenever they are counted.
 */
export function alertId(rule: string, version: string, values: readonly GroupValue[], windowMs: number): string {
  const hash = createHash('sha256');
  for (const part of [rule, version, ...values.flatMap(({ text, sha256 = '' }) => [text, sha256]), String(windowMs)]) {
    hash.update(`${Buffer.byteLength(part)}:`).update(part);
  }
  return hash.digest('hex').slice(0, 32);
}
