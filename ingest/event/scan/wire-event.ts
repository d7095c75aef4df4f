import { canonicalAsn } from '../../../query/canonical-asn.ts';
import { parseIsoTime } from './iso-time.ts';
import { isDigit } from './json-bytes.ts';
import { KIND } from './json-skipper.ts';
import type { MemberScanner } from './member-scanner.ts';
import { ASN, FIRST_TEXT, LOG, LOG_ID, TIMESTAMP, WIRE_FIELDS, wireFieldAt, ZONE_ID } from './wire-fields.ts';

export const LONGEST_LOG_ID_BYTES = 512;

const LARGEST_INT32 = 2 ** 31 - 1;
const SMALLEST_INT32 = -(2 ** 31);
const LARGEST_INT64 = 2n ** 63n - 1n;

/** What a scanned event says, checked against the rules for each field. One object is filled again and again. */
export class WireEvent {
  /** For each of `WIRE_FIELDS` the number of its member, or -1 where the event has none or it is null; of an `asn` also where it is "". */
  readonly memberOf = new Int32Array(WIRE_FIELDS.length);
  /** Null where the event has no valid one, which makes `read` refuse it. */
  zoneId: number | null = null;
  timestampMs = 0;
  /** What is to be written for the number of the network; empty where that is what its member has. */
  asn = '';
  /** The members that are no field of an event. */
  readonly homeless: number[] = [];

  /**
   * Takes over what `scanner` found. Returns what is wrong with it, naming the field, its value and what is allowed; null if nothing is.
   */
  read(scanner: MemberScanner): string | null {
    this.#findFields(scanner);
    return (
      this.#readZoneId(scanner) ??
      this.#readTimestamp(scanner) ??
      this.#readLogId(scanner) ??
      this.#readTexts(scanner) ??
      this.#readLog(scanner)
    );
  }

  /** Of a name that is there twice the last one counts, as everywhere in JavaScript. */
  #findFields(scanner: MemberScanner): void {
    const { members, text } = scanner;
    for (let field = 0; field < WIRE_FIELDS.length; field++) {
      this.memberOf[field] = -1;
    }
    this.homeless.length = 0;
    for (let member = 0; member < members.count; member++) {
      const field = wireFieldAt(text, members.keyStart[member]!, members.keyEnd[member]!);
      const known =
        field >= 0 || members.keyEscaped[member] === 0 ? field : (WIRE_FIELDS as readonly string[]).indexOf(scanner.keyOf(member));
      if (known >= 0) {
        this.memberOf[known] = member;
      } else {
        this.homeless.push(member);
      }
    }
  }

  #readZoneId(scanner: MemberScanner): string | null {
    this.zoneId = null;
    const member = this.memberOf[ZONE_ID]!;
    const allowed = `an integer from ${SMALLEST_INT32} to ${LARGEST_INT32} is required`;
    if (member < 0) {
      return `shieldZoneId is missing: ${allowed}`;
    }
    const value = scanner.members.kind[member] === KIND.integer ? scanner.integerOf(member) : Number.NaN;
    if (!(value >= SMALLEST_INT32 && value <= LARGEST_INT32)) {
      return `shieldZoneId is ${scanner.quoteValue(member)}: ${allowed}`;
    }
    this.zoneId = value;
    return null;
  }

  #readTimestamp(scanner: MemberScanner): string | null {
    const member = this.memberOf[TIMESTAMP]!;
    const allowed = 'Unix milliseconds as an integer of 64 bits, or an ISO 8601 text with a zone, is required';
    if (member < 0) {
      return `timestamp is missing: ${allowed}`;
    }
    const value = this.#timestampOf(scanner, member);
    if (value === null) {
      return `timestamp is ${scanner.quoteValue(member)}: ${allowed}`;
    }
    this.timestampMs = value;
    return null;
  }

  #timestampOf(scanner: MemberScanner, member: number): number | null {
    const kind = scanner.members.kind[member];
    if (kind === KIND.integer) {
      const value = scanner.integerOf(member);
      const inRange = Number.isSafeInteger(value) || isInt64(scanner.rawOf(member));
      return inRange ? value : null;
    }
    if (kind === KIND.string || kind === KIND.escapedString) {
      return parseIsoTime(scanner.stringOf(member));
    }
    return null;
  }

  #readLogId(scanner: MemberScanner): string | null {
    const member = this.memberOf[LOG_ID]!;
    if (member < 0) {
      return null;
    }
    const { kind, valueStart, valueEnd } = scanner.members;
    if (kind[member] === KIND.null) {
      this.#leaveOut(LOG_ID);
      return null;
    }
    const allowed = `a text of 1 to ${LONGEST_LOG_ID_BYTES} bytes is required`;
    if (kind[member] !== KIND.string && kind[member] !== KIND.escapedString) {
      return `logId is ${scanner.quoteValue(member)}: ${allowed}`;
    }
    let bytes = valueEnd[member]! - valueStart[member]! - 2;
    if (kind[member] === KIND.escapedString && bytes > LONGEST_LOG_ID_BYTES) {
      bytes = Buffer.byteLength(scanner.stringOf(member));
    }
    if (bytes > LONGEST_LOG_ID_BYTES) {
      return `logId is ${scanner.quoteValue(member)}, which has ${bytes} bytes: ${allowed}`;
    }
    return bytes < 1 ? `logId is "": ${allowed}` : null;
  }

  #readTexts(scanner: MemberScanner): string | null {
    const { kind } = scanner.members;
    for (let field = FIRST_TEXT; field < WIRE_FIELDS.length; field++) {
      const member = this.memberOf[field]!;
      if (member < 0) {
        continue;
      }
      if (kind[member] === KIND.null) {
        this.#leaveOut(field);
      } else if (field === ASN) {
        const wrong = this.#readAsn(scanner, member);
        if (wrong !== null) {
          return wrong;
        }
      } else if (kind[member] !== KIND.string && kind[member] !== KIND.escapedString) {
        return `${WIRE_FIELDS[field]} is ${scanner.quoteValue(member)}: a string or null is required`;
      }
    }
    return null;
  }

  /** A number has digits, so an empty text says that the event has none; `AS` alone is wrong. */
  #readAsn(scanner: MemberScanner, member: number): string | null {
    const { kind, valueStart, valueEnd } = scanner.members;
    if (kind[member] === KIND.string && valueEnd[member]! - valueStart[member]! === 2) {
      this.#leaveOut(ASN);
      return null;
    }
    if (kind[member] === KIND.string && isShortNumber(scanner.text, valueStart[member]! + 1, valueEnd[member]! - 1)) {
      this.asn = '';
      return null;
    }
    const isText = kind[member] === KIND.string || kind[member] === KIND.escapedString;
    const written = isText ? scanner.stringOf(member) : kind[member] === KIND.integer ? scanner.rawOf(member) : '';
    const asn = canonicalAsn(written);
    if (asn === null) {
      return `asn is ${scanner.quoteValue(member)}: decimal digits are required, as a number or a text, which may begin with AS`;
    }
    this.asn = asn;
    return null;
  }

  #readLog(scanner: MemberScanner): string | null {
    const member = this.memberOf[LOG]!;
    if (member < 0) {
      return null;
    }
    const kind = scanner.members.kind[member];
    if (kind === KIND.null) {
      this.#leaveOut(LOG);
      return null;
    }
    return kind === KIND.object ? null : `log is ${scanner.quoteValue(member)}: a JSON object is required`;
  }

  #leaveOut(field: number): void {
    this.memberOf[field] = -1;
  }
}

function isInt64(digits: string): boolean {
  // Far longer ones are not worth turning into a number.
  const value = digits.length > 20 ? LARGEST_INT64 + 1n : BigInt(digits);
  return value <= LARGEST_INT64 && value >= -LARGEST_INT64 - 1n;
}

/** Up to nine digits without a leading zero: an AS number in canonical form whatever the digits are. */
function isShortNumber(text: Uint8Array, start: number, end: number): boolean {
  if (end - start > 9 || (text[start] === 0x30 && end - start > 1)) {
    return false;
  }
  for (let index = start; index < end; index++) {
    if (!isDigit(text[index])) {
      return false;
    }
  }
  return true;
}
