import { isUtf8 } from 'node:buffer';
import { CARRIAGE_RETURN, CLOSE_BRACE, COLON, COMMA, DIGIT_0, MINUS, NEWLINE, OPEN_BRACE, QUOTE, SPACE } from './json-bytes.ts';
import { DEEPEST_NESTING, JsonSkipper, KIND } from './json-skipper.ts';
import { MemberList } from './member-list.ts';

const LONGEST_QUOTED_BYTES = 80;

/**
 * Reads one event's bytes in one pass: checks that they are one JSON object in UTF-8, and finds its members. Nothing is parsed into values.
 * The text lies in a buffer of the scanner's own until the next scan.
 */
export class MemberScanner {
  readonly members = new MemberList();
  /** The event's bytes, raw newlines between its tokens turned to blanks. */
  text: Buffer = Buffer.alloc(64 * 1024);
  /** The object's braces in `text`, which are at the same places in the bytes that were given. */
  openAt = 0;
  closeAt = 0;
  readonly #inner = new MemberList();
  readonly #skipper = new JsonSkipper();
  #length = 0;

  /** False where the bytes are not a JSON object; `reason` then says what they are. */
  scan(bytes: Uint8Array): boolean {
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
    this.closeAt = this.#scanObject(start, this.members) - 1;
    if (this.closeAt < 0) {
      return false;
    }
    const end = skipper.skipBlank(text, this.closeAt + 1);
    if (end !== this.#length) {
      skipper.fail(end, 'syntax');
      return false;
    }
    if (skipper.sawNonAscii && !isUtf8(text.subarray(0, this.#length))) {
      return false;
    }
    if (skipper.sawNewline) {
      this.#blankNewlines();
    }
    return true;
  }

  /** The members of an object within the scanned text, known to be valid; good until the next call. `at` is its opening brace. */
  membersAt(at: number): MemberList {
    this.#scanObject(at, this.#inner);
    return this.#inner;
  }

  /** Why the last scan failed, in words. */
  reason(): string {
    const { fault, faultAt } = this.#skipper;
    const text = this.text.subarray(0, this.#length);
    if (!isUtf8(text)) {
      return 'the event is not UTF-8';
    }
    if (faultAt < 0) {
      return `the event is ${this.quote(this.openAt, this.#length)}: a JSON object is required`;
    }
    if (fault === 'lone surrogate') {
      return `half a surrogate pair at byte ${faultAt} (${this.quote(faultAt - 1, faultAt + 5)}): \\ud800 to \\udfff must come in pairs`;
    }
    if (fault === 'nesting') {
      return `the event nests deeper than ${DEEPEST_NESTING} levels`;
    }
    if (faultAt >= this.#length) {
      return `the event is not JSON: it ends in the middle, after ${this.#length} bytes`;
    }
    // As a JSON text, in which a control character shows and quotes of the event's own do not end the quotation.
    const unexpected = withoutCutCharacter(text.toString('utf8', faultAt, faultAt + 20));
    return `the event is not JSON: unexpected ${JSON.stringify(unexpected)} at byte ${faultAt}`;
  }

  /** A member's name. */
  keyOf(member: number, members = this.members): string {
    const key = this.text.toString('utf8', members.keyStart[member], members.keyEnd[member]);
    return members.keyEscaped[member] === 1 ? (JSON.parse(`"${key}"`) as string) : key;
  }

  /** The value of a member that is a string. */
  stringOf(member: number): string {
    const raw = this.rawOf(member);
    return this.members.kind[member] === KIND.string ? raw.slice(1, -1) : (JSON.parse(raw) as string);
  }

  /** The value of a member that is an integer; past 2^53 it is not exact. */
  integerOf(member: number): number {
    const start = this.members.valueStart[member]!;
    const end = this.members.valueEnd[member]!;
    if (end - start > 15 || this.text[start] === MINUS) {
      return Number(this.rawOf(member));
    }
    let value = 0;
    for (let index = start; index < end; index++) {
      value = value * 10 + this.text[index]! - DIGIT_0;
    }
    return value;
  }

  /** A member's value as it is written. */
  rawOf(member: number): string {
    return this.text.toString('utf8', this.members.valueStart[member], this.members.valueEnd[member]);
  }

  quoteValue(member: number): string {
    return this.quote(this.members.valueStart[member]!, this.members.valueEnd[member]!);
  }

  /** A piece of the text to be shown to people, cut short; a JSON text that is cut keeps both its quotes. */
  quote(start: number, end: number): string {
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

  /** The index behind the object's closing brace, or 0; fills `members`. */
  #scanObject(at: number, members: MemberList): number {
    const { text } = this;
    const skipper = this.#skipper;
    members.clear();
    let index = skipper.skipBlank(text, at + 1);
    if (text[index] === CLOSE_BRACE) {
      return index + 1;
    }
    for (;;) {
      if (text[index] !== QUOTE) {
        skipper.fail(index, 'syntax');
        return 0;
      }
      const keyStart = index + 1;
      const escapes = skipper.escapes;
      const keyEnd = skipper.skipString(text, keyStart) - 1;
      if (keyEnd < 0) {
        return 0;
      }
      const keyEscaped = escapes !== skipper.escapes;
      index = skipper.skipBlank(text, keyEnd + 1);
      if (text[index] !== COLON) {
        skipper.fail(index, 'syntax');
        return 0;
      }
      const valueStart = skipper.skipBlank(text, index + 1);
      const valueEnd = skipper.skipValue(text, valueStart, 1);
      if (valueEnd < 0) {
        return 0;
      }
      members.add(keyStart, keyEnd, keyEscaped, valueStart, valueEnd, skipper.kind);
      index = skipper.skipBlank(text, valueEnd);
      if (text[index] === CLOSE_BRACE) {
        return index + 1;
      }
      if (text[index] !== COMMA) {
        skipper.fail(index, 'syntax');
        return 0;
      }
      index = skipper.skipBlank(text, index + 1);
    }
  }

  #blankNewlines(): void {
    for (let index = this.openAt; index < this.closeAt; index++) {
      if (this.text[index] === NEWLINE || this.text[index] === CARRIAGE_RETURN) {
        this.text[index] = SPACE;
      }
    }
  }
}

/** What was cut off in the middle of a character reads as U+FFFD. */
function withoutCutCharacter(text: string): string {
  return text.replace(/\uFFFD+$/, '');
}

function startsWithByteOrderMark(text: Buffer, length: number): boolean {
  return length >= 3 && text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf;
}
