/** What the values of the events are; which field has them says {@link eventLine}. */
export const VALUE_KINDS = [
  'usual',
  'long',
  'long rules',
  'near misses',
  'short near misses',
  'outside Latin',
  'escapes',
  'NUL',
  'many everywhere',
  'dense log',
  'long log',
  'many members',
] as const;

export type ValueKind = (typeof VALUE_KINDS)[number];

export interface EventValues {
  readonly kind: ValueKind;
  /** How many bytes an event has, about. */
  readonly bytes: number;
  readonly zones: number;
}

/** Names for the number of an event, so that two batches have no event in common. */
export interface EventNumber {
  readonly batch: number;
  readonly index: number;
}

/** Letters of one, two, three and four bytes whose case is special, of other scripts, and beyond the first 65,536. */
const LETTERS = 'яİẞ漢ﬀ𐐀😀ΣＡ';

/** At most, with a comma. */
const MEMBER_BYTES = 14;

/** Beside the value an event has less than this, in its id, its time and the names of its members. */
const REST_BYTES = 600;

/** A line of NDJSON. `timestamp` is in Unix milliseconds. */
export function eventLine(values: EventValues, number: EventNumber, timestamp: number): string {
  const { batch, index } = number;
  const head = { shieldZoneId: 1 + (index % values.zones), timestamp, logId: `${batch}-${index}`, action: 'blocked' };
  const members = JSON.stringify({ ...head, ...fieldsOf(values, index) });
  const log = logOf(values);
  return log === undefined ? members : `${members.slice(0, -1)},"log":${log}}`;
}

function fieldsOf({ kind, bytes }: EventValues, index: number): Readonly<Record<string, string>> {
  const length = Math.max(1, bytes - REST_BYTES);
  switch (kind) {
    case 'usual':
      return { ua: `Mozilla/5.0 (${index % 7})`, url: `/${index % 50}?page=${index % 3}`, country: 'DE', asn: '64510', ruleId: '941100' };
    case 'long':
      return { ua: `${index}${'u'.repeat(length)}` };
    case 'long rules':
      return { ruleId: `${index}${'r'.repeat(length)}` };
    case 'near misses':
    case 'short near misses':
      return { ua: 'b'.repeat(index % 50) + nearMisses({ kind, bytes }) };
    case 'outside Latin':
      return { ua: `${index}${repeatedTo(LETTERS, length)}`, ruleName: LETTERS };
    case 'escapes':
      return { url: `/${index}?${'\u0001"\\\n'.repeat(8)}`, ruleName: '=\u0001"\\' };
    case 'NUL':
      return { ua: `${'a'.repeat(length)}\u0000${index}`, url: `/\u0000${index}` };
    case 'many everywhere':
      return manyEverywhere(index);
    case 'dense log':
      return { url: 'aaaaaa', ip: 'aaaaaaa', ruleName: 'aaaaaaaa', ruleId: 'aaaaaaaaa' };
    case 'long log':
      return { ua: 'Mozilla/5.0', url: `/${index}`, country: 'DE' };
    case 'many members':
      return Object.fromEntries(Array.from({ length: Math.floor(length / MEMBER_BYTES) }, (_, member) => [`m${member}`, '1']));
  }
}

function logOf({ kind, bytes }: EventValues): string | undefined {
  const length = Math.max(1, bytes - REST_BYTES);
  switch (kind) {
    case 'escapes':
      return `{"Headers":[${repeatedTo('{"Name":"h","Value":"v\\u0001\\"\\\\\\n"},', length)}{}]}`;
    case 'dense log':
      return `{"x":"${'a'.repeat(length)}"}`;
    case 'long log':
      return `{"Headers":[${repeatedTo('{"Name":"accept","Value":"text/html"},', length)}{}]}`;
    default:
      return undefined;
  }
}

/** Another value in each field. */
function manyEverywhere(index: number): Readonly<Record<string, string>> {
  return {
    action: `blocked${index % 3}`,
    feature: `f${index}`,
    ruleId: `rule-${index}`,
    ruleName: `name ${index}`,
    ip: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
    ja4: `t13d${index}`,
    ua: `agent ${index}`,
    url: `/${index}?${index}`,
    asn: String(index),
    country: `c${index}`,
  };
}

const repeatedTo = (text: string, bytes: number): string => text.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(text))));

/** One needle may have 65,536 letters. */
const LONGEST_NEEDLE = 60_000;
const SHORT_NEEDLE = 1_000;

type Searched = Pick<EventValues, 'kind' | 'bytes'>;

function needleLength({ kind, bytes }: Searched): number {
  const longest = kind === 'near misses' ? LONGEST_NEEDLE : SHORT_NEEDLE;
  return Math.min(longest, Math.max(4, Math.floor((bytes - REST_BYTES) / 4)));
}

/** A text in which a search for one of the {@link almostThere} looks at almost all of the needle again at each letter. */
function nearMisses(searched: Searched): string {
  const length = needleLength(searched);
  return repeatedTo(`${'b'.repeat(length - 2)}ac`, searched.bytes - REST_BYTES);
}

/** Needles that are found nowhere in near misses, others for each number. */
export function almostThere(searched: Searched, count: number, number: number): readonly string[] {
  const length = needleLength(searched);
  return Array.from({ length: count }, (_, index) => {
    const tail = Math.min(length - 3, 98 + index + number * 10);
    return `${'b'.repeat(length - 2 - tail)}ca${'b'.repeat(tail)}`;
  });
}
