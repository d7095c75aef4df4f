import { isUtf8 } from 'node:buffer';
import { CARRIAGE_RETURN, NEWLINE, OPEN_BRACE, QUOTE, SPACE } from '../../query/json-bytes.ts';
import { JsonSkipper, MAX_NESTING, type MemberRange, UNICODE_ESCAPE } from './json-skipper.ts';

const LONGEST_QUOTED_BYTES = 80;
const LONGEST_CHARACTER_BYTES = 4;

/**
 * Reads one event's bytes in one pass: checks that they are one JSON object, and finds its members. Nothing is parsed into values. The text
 * lies in a buffer of the scanner's own until the next scan. Bytes in its strings that are no UTF-8 become U+FFFD, one for each sequence
 * that the Encoding Standard of WHATWG counts, and the text is read once more. So does each escape of half a surrogate pair, where it
 * stands.
 */
export class MemberScanner {
  members: readonly MemberRange[] = [];
  /** The event's bytes, raw newlines between its tokens turned to blanks. */
  text: Buffer = Buffer.alloc(64 * 1024);
  /** The object's braces in `text`. */
  openAt = 0;
  closeAt = 0;
  /** The object's range in the bytes that were given, which differs from that in `text` where bytes were repaired. */
  sourceStart = 0;
  sourceEnd = 0;
  /** The length of the event as it was given. */
  sourceBytes = 0;
  readonly #skipper = new JsonSkipper();
  #length = 0;
  /** The members whose values were repaired; null where nothing was. */
  #repaired: Set<MemberRange> | null = null;

  /** False where the bytes are not a JSON object; `reason` then says what they are. */
  scan(bytes: Uint8Array): boolean {
    this.#repaired = null;
    if (!this.#scan(bytes)) {
      return false;
    }
    [this.sourceStart, this.sourceEnd, this.sourceBytes] = [this.openAt, this.closeAt + 1, bytes.length];
    if (this.#skipper.halves.length > 0) {
      this.#repairHalves();
    }
    if (this.#skipper.sawNonAscii && !isUtf8(this.text.subarray(0, this.#length))) {
      this.#repair();
    }
    if (this.#skipper.sawNewline) {
      this.#blankNewlines();
    }
    return true;
  }

  /** Bytes of the event that are no UTF-8, or halves of surrogate pairs, were repaired. */
  get isRepaired(): boolean {
    return this.#repaired !== null;
  }

  /** The length of the event, repaired: bytes that are no UTF-8 may have made it longer. */
  get sizeBytes(): number {
    return this.#length;
  }

  wasRepaired(member: MemberRange): boolean {
    return this.#repaired?.has(member) === true;
  }

  /** Writes the escape of U+FFFD over those of halves, which are as long. */
  #repairHalves(): void {
    const { halves } = this.#skipper;
    for (const at of halves) {
      this.text.write('fffd', at + 1, 'latin1');
    }
    let next = 0;
    this.#repaired = new Set();
    for (const member of this.members) {
      while (halves[next]! < member.valueStart) {
        next++;
      }
      if (halves[next]! < member.valueEnd) {
        this.#repaired.add(member);
      }
    }
  }

  /** Reads the text again with its wrong sequences repaired, which are all in strings: it has the same members. */
  #repair(): void {
    const { text, members } = this;
    const wrong = members.map((member) => this.wasRepaired(member) || !isUtf8(text.subarray(member.valueStart, member.valueEnd)));
    this.#scan(Buffer.from(text.toString('utf8', 0, this.#length)));
    this.#repaired = new Set(this.members.filter((_, index) => wrong[index]));
  }

  #scan(bytes: Uint8Array): boolean {
    this.#load(bytes);
    const { text } = this;
    const skipper = this.#skipper;
    skipper.reset();
    const start = skipper.skipBlank(text, startsWithByteOrderMark(text, this.#length) ? 3 : 0);
    this.openAt = start;
    if (text[start] !== OPEN_BRACE) {
      // A whole value of another kind is "not an object"; anything else is "not JSON".
      const end = skipper.skipValue(text, start, 0);
      if (end >= 0 && skipper.skipBlank(text, end) === this.#length) {
        skipper.fail(-1, 'syntax');
      }
      return false;
    }
    const members: MemberRange[] = [];
    const after = skipper.skipObject(text, start, 1, members);
    if (after < 0) {
      return false;
    }
    this.members = members;
    this.closeAt = after - 1;
    const end = skipper.skipBlank(text, after);
    if (end !== this.#length) {
      skipper.fail(end, 'syntax');
      return false;
    }
    return true;
  }

  /** The members of an object within the scanned text, known to be valid. `at` is its opening brace. */
  membersAt(at: number): readonly MemberRange[] {
    const members: MemberRange[] = [];
    this.#skipper.skipObject(this.text, at, 1, members);
    return members;
  }

  /** The reason why the last scan failed. The bytes were to be an event, or a record that becomes one. */
  reason(what: 'event' | 'record' = 'event'): string {
    const { fault, faultAt } = this.#skipper;
    const text = this.text.subarray(0, this.#length);
    if (faultAt < 0) {
      return `the ${what} is ${this.#quote(this.openAt, this.#length)}: a JSON object is required`;
    }
    if (fault === 'nesting') {
      return `the ${what} nests deeper than ${MAX_NESTING} levels`;
    }
    if (faultAt >= this.#length) {
      return `the ${what} is not JSON: it ends in the middle, after ${this.#length} bytes`;
    }
    const isEscape = fault === 'escape';
    const wrongAt = isEscape && text[faultAt] === UNICODE_ESCAPE ? indexBehindHex(text, faultAt + 1) : faultAt;
    // The replacement that is read for a wrong sequence may also stand in the text itself.
    if (text.toString('utf8', wrongAt, wrongAt + LONGEST_CHARACTER_BYTES).startsWith('\ufffd') && !startsWithReplacement(text, wrongAt)) {
      return `the ${what} is not UTF-8 at byte ${wrongAt}: ${isEscape ? 'in an escape' : 'outside of a string'} nothing is repaired`;
    }
    // A JSON text shows control characters and escapes the event's own quotes.
    const unexpected = withoutCutCharacter(text.toString('utf8', faultAt, faultAt + 20));
    return `the ${what} is not JSON: unexpected ${JSON.stringify(unexpected)} at byte ${faultAt}`;
  }

  /** A member's name. */
  keyOf({ keyStart, keyEnd, keyHasEscapes }: MemberRange): string {
    const key = this.text.toString('utf8', keyStart, keyEnd);
    return keyHasEscapes ? (JSON.parse(`"${key}"`) as string) : key;
  }

  /** The value of a member that is a string. */
  stringOf(member: MemberRange): string {
    const raw = this.#rawOf(member);
    return member.valueHasEscapes ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  }

  /** The bytes of the same, or of the digits of a number: where it has no escapes, a part of the scanned text. */
  textOf(member: MemberRange): Buffer {
    const { valueStart, valueEnd } = member;
    const quote = Number(member.kind === 'string');
    return member.valueHasEscapes ? Buffer.from(this.stringOf(member)) : this.text.subarray(valueStart + quote, valueEnd - quote);
  }

  /** The digits of a member that is a number. */
  digitsOf({ valueStart, valueEnd }: MemberRange): string {
    return this.text.toString('latin1', valueStart, valueEnd);
  }

  /** A member's value as it is written. */
  #rawOf({ valueStart, valueEnd }: MemberRange): string {
    return this.text.toString('utf8', valueStart, valueEnd);
  }

  /** A member's value to be shown to people, cut short. */
  quoteValue({ valueStart, valueEnd }: MemberRange): string {
    return this.#quote(valueStart, valueEnd);
  }

  /** A JSON text that is cut keeps both its quotes. */
  #quote(start: number, end: number): string {
    if (end - start <= LONGEST_QUOTED_BYTES) {
      return this.text.toString('utf8', start, Math.min(end, this.#length));
    }
    const shown = withoutCutCharacter(this.text.toString('utf8', start, start + LONGEST_QUOTED_BYTES));
    return `${shown}…${this.text[start] === QUOTE ? '"' : ''}`;
  }

  #load(bytes: Uint8Array): void {
    const { length } = bytes;
    if (length + 8 > this.text.length) {
      this.text = Buffer.alloc(2 * (length + 8));
    }
    this.text.set(bytes);
    this.text[length] = 0;
    this.#length = length;
  }

  #blankNewlines(): void {
    for (let index = this.openAt; index < this.closeAt; index++) {
      if (this.text[index] === NEWLINE || this.text[index] === CARRIAGE_RETURN) {
        this.text[index] = SPACE;
      }
    }
  }
}

/** Removes the U+FFFD that a character reads as which was cut in its middle. */
function withoutCutCharacter(text: string): string {
  return text.replace(/\uFFFD+$/, '');
}

/** The index of the first byte from `from` on that is no hexadecimal digit. */
function indexBehindHex(bytes: Buffer, from: number): number {
  let at = from;
  while (/^[0-9a-fA-F]$/.test(bytes.toString('latin1', at, at + 1))) at++;
  return at;
}

function startsWithReplacement(text: Buffer, at: number): boolean {
  return text[at] === 0xef && text[at + 1] === 0xbf && text[at + 2] === 0xbd;
}

function startsWithByteOrderMark(text: Buffer, length: number): boolean {
  return length >= 3 && text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf;
}
