import { parseAddress, parseIp } from '../../query/address.ts';
import { canonicalAsn } from '../../query/as-number.ts';
import { EVENT_FIELDS, type EventField, NUMBER_FIELDS, ruleOf, TEXT_FIELDS } from '../../query/event-fields.ts';
import { INT64 } from '../../query/integer-ranges.ts';
import { exactInteger } from '../../query/json-value.ts';
import { LARGEST_ZONE_ID, SMALLEST_ZONE_ID } from '../../query/zone-id.ts';
import { type AllowedTimes, mistakenUnit } from './event-verdict.ts';
import { parseIsoTime } from './iso-time.ts';
import { isNumber, type MemberRange } from './json-skipper.ts';
import { LONGEST_LOG_ID_BYTES } from './log-id.ts';
import type { MemberScanner } from './member-scanner.ts';

type FieldName = EventField['name'];

const FIELDS = EVENT_FIELDS.map(({ name }) => name);

/** The names of the fields by length, in bytes. */
const NAMES_BY_LENGTH = Array.from({ length: 1 + Math.max(...FIELDS.map(({ length }) => length)) }, (_, length) =>
  FIELDS.filter((name) => name.length === length).map((name) => ({ name, bytes: Buffer.from(name) })),
);
const TEXT_RULES = TEXT_FIELDS.map((name) => ({ name, rule: ruleOf(name), takesNumber: NUMBER_FIELDS.has(name) }));

/** The `ip` of an event as it is stored. */
export interface StoredIp {
  readonly text: Buffer;
  /** As a number, as `parseIp` has it; null where the text is neither an address nor masked. */
  readonly address: bigint | null;
  /** It came with a port or with blanks around it. */
  readonly isRepaired: boolean;
}

/** The fields of a scanned event, checked against the rule of each. One object is filled again and again. */
export class WireEvent {
  /** The members of the fields that the event has: not those that are null, nor an `asn` that is "". */
  readonly fields = new Map<FieldName, MemberRange>();
  /** Null where the event has no valid one, which makes `read` refuse it. */
  zoneId: number | null = null;
  timestampMs = 0;
  /** The AS number in decimal digits; null where the event has none. */
  asn: string | null = null;
  /** Null where the event has no `ip`. */
  ip: StoredIp | null = null;
  /** The members that are no field of an event. */
  readonly others: MemberRange[] = [];

  /**
   * Returns what is wrong with the event, naming the field, its value and what is allowed; null if nothing is. Whether its time is one of
   * `times` is left to the caller.
   */
  read(scanner: MemberScanner, times: AllowedTimes): string | null {
    this.#findFields(scanner);
    return (
      this.#readZoneId(scanner) ??
      this.#readTimestamp(scanner, times) ??
      this.#readLogId(scanner) ??
      this.#readTexts(scanner) ??
      this.#readLog(scanner)
    );
  }

  /** Finds the fields. The last of several members with the same name counts, as in JSON.parse. */
  #findFields(scanner: MemberScanner): void {
    this.fields.clear();
    this.others.length = 0;
    for (const member of scanner.members) {
      const { keyStart, keyEnd, keyHasEscapes } = member;
      const name = keyHasEscapes ? FIELDS.find((field) => field === scanner.keyOf(member)) : fieldNamed(scanner.text, keyStart, keyEnd);
      if (name === undefined) {
        this.others.push(member);
      } else {
        this.fields.set(name, member);
      }
    }
  }

  /** The member of an optional field; undefined where it is absent or null. */
  #optional(name: FieldName): MemberRange | undefined {
    const member = this.fields.get(name);
    if (member?.kind === 'null') {
      this.fields.delete(name);
      return undefined;
    }
    return member;
  }

  #readZoneId(scanner: MemberScanner): string | null {
    this.zoneId = null;
    const member = this.fields.get('shieldZoneId');
    const allowed = `an integer from ${SMALLEST_ZONE_ID} to ${LARGEST_ZONE_ID} is required`;
    if (member === undefined) {
      return `shieldZoneId is missing: ${allowed}`;
    }
    const text = scalarText(scanner, member);
    const value = member.kind === 'integer' || DIGITS.test(text) ? Number(text) : Number.NaN;
    if (!(value >= SMALLEST_ZONE_ID && value <= LARGEST_ZONE_ID)) {
      return `shieldZoneId is ${scanner.quoteValue(member)}: ${allowed}`;
    }
    this.zoneId = value;
    return null;
  }

  #readTimestamp(scanner: MemberScanner, times: AllowedTimes): string | null {
    const member = this.fields.get('timestamp');
    const allowed = 'Unix milliseconds as an integer of 64 bits, or an ISO 8601 text with a zone, is required';
    if (member === undefined) {
      return `timestamp is missing: ${allowed}`;
    }
    const text = scalarText(scanner, member);
    const unit = isNumber(member) || DIGITS_WITH_FRACTION.test(text) ? mistakenUnit(Number(text), times) : null;
    if (unit !== null) {
      return `timestamp is ${scanner.quoteValue(member)}, which is an allowed time in ${unit}: Unix milliseconds are required`;
    }
    const value = timestampOf(text, isNumber(member));
    if (value === null) {
      return `timestamp is ${scanner.quoteValue(member)}: ${allowed}`;
    }
    this.timestampMs = value;
    return null;
  }

  #readLogId(scanner: MemberScanner): string | null {
    const member = this.#optional('logId');
    if (member === undefined) {
      return null;
    }
    // Two ids that differ in what was repaired alone would become one.
    if (member.kind === 'string' && scanner.wasRepaired(member)) {
      this.fields.delete('logId');
      return null;
    }
    const allowed = `a text or a number of 1 to ${LONGEST_LOG_ID_BYTES} bytes is required`;
    if (member.kind !== 'string' && !isNumber(member)) {
      return `logId is ${scanner.quoteValue(member)}: ${allowed}`;
    }
    let bytes = member.valueEnd - member.valueStart - (isNumber(member) ? 0 : 2);
    if (member.valueHasEscapes && bytes > LONGEST_LOG_ID_BYTES) {
      bytes = Buffer.byteLength(scanner.stringOf(member));
    }
    if (bytes > LONGEST_LOG_ID_BYTES) {
      return `logId is ${scanner.quoteValue(member)}, which has ${bytes} bytes: ${allowed}`;
    }
    return bytes < 1 ? `logId is "": ${allowed}` : null;
  }

  #readTexts(scanner: MemberScanner): string | null {
    this.asn = null;
    this.ip = null;
    for (const { name, rule, takesNumber } of TEXT_RULES) {
      const member = this.#optional(name);
      if (member === undefined) {
        continue;
      }
      if (rule === 'asNumber') {
        const wrong = this.#readAsn(scanner, member, name);
        if (wrong !== null) {
          return wrong;
        }
      } else if (member.kind !== 'string' && !(takesNumber && isNumber(member))) {
        return `${name} is ${scanner.quoteValue(member)}: ${takesNumber ? 'a string, a number' : 'a string'} or null is required`;
      } else if (rule === 'address') {
        this.ip = storedIp(scanner.textOf(member));
      }
    }
    return null;
  }

  /** A number has digits, so an empty text says that the event has none; `AS` alone is wrong. */
  #readAsn(scanner: MemberScanner, member: MemberRange, name: FieldName): string | null {
    const isText = member.kind === 'string';
    const written = isText ? scanner.stringOf(member) : member.kind === 'integer' ? scanner.digitsOf(member) : '';
    if (isText && written === '') {
      this.fields.delete(name);
      return null;
    }
    this.asn = canonicalAsn(written);
    return this.asn === null
      ? `${name} is ${scanner.quoteValue(member)}: decimal digits are required, as a number or a text, which may begin with AS`
      : null;
  }

  #readLog(scanner: MemberScanner): string | null {
    const member = this.#optional('log');
    return member === undefined || member.kind === 'object' ? null : `log is ${scanner.quoteValue(member)}: a JSON object is required`;
  }
}

/** The field whose name is in `text[start, end)`. */
function fieldNamed(text: Uint8Array, start: number, end: number): FieldName | undefined {
  for (const { name, bytes } of NAMES_BY_LENGTH[end - start] ?? []) {
    let index = 0;
    while (index < bytes.length && bytes[index] === text[start + index]) {
      index++;
    }
    if (index === bytes.length) {
      return name;
    }
  }
  return undefined;
}

/** `192.0.2.7:9989` or `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:([\d.]+)|\[([\da-f]*:[\da-f:.]*)\]):(\d{1,5})$/i;
const MOST_PORT = 65_535;

/** An address loses its port, and it or a masked one the blanks around it, which no search would name. Any other text stays as it is. */
function storedIp(text: Buffer): StoredIp {
  // Quicker than UTF-8, and no address either where it is not ASCII.
  const address = parseIp(text.toString('latin1'));
  if (address !== null) {
    return { text, address, isRepaired: false };
  }
  const trimmed = text.toString().trim();
  const [, ipv4, ipv6 = ipv4, port] = WITH_PORT.exec(trimmed) ?? [];
  const hasPort = ipv6 !== undefined && Number(port) <= MOST_PORT;
  const bare = hasPort ? ipv6 : trimmed;
  const found = hasPort ? parseAddress(bare) : parseIp(bare);
  return found === null ? { text, address: null, isRepaired: false } : { text: Buffer.from(bare), address: found, isRepaired: true };
}

/** The text of a string, or of a number as it stands; empty for any other value. */
function scalarText(scanner: MemberScanner, member: MemberRange): string {
  return member.kind === 'string' || isNumber(member) ? scanner.textOf(member).toString() : '';
}

const DIGITS = /^\d+$/;
const DIGITS_WITH_FRACTION = /^\d+(\.\d+)?$/;

/** Unix milliseconds of a number, or of the `text` of digits or an ISO 8601 time with a zone; null where it is neither, or past 64 bits. */
function timestampOf(text: string, isNumber: boolean): number | null {
  if (DIGITS.test(text) && Number.isSafeInteger(Number(text))) {
    return Number(text);
  }
  if (!isNumber && !DIGITS.test(text)) {
    return parseIsoTime(text);
  }
  const value = exactInteger(text);
  return value !== null && value <= INT64.max && value >= INT64.min ? Number(value) : null;
}
