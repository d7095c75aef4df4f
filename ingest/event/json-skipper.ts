import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DIGIT_0,
  isDigit,
  MINUS,
  NEWLINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../../query/json-bytes.ts';

/** Deeper events are refused: readers of the stored log may be recursive. */
export const MAX_NESTING = 1000;

export type JsonFault = 'syntax' | 'escape' | 'nesting';

/** The kind of a value. */
export type SkippedKind = 'string' | 'integer' | 'number' | 'object' | 'array' | 'true' | 'false' | 'null';

export function isNumber({ kind }: Pick<MemberRange, 'kind'>): boolean {
  return kind === 'integer' || kind === 'number';
}

/** A member of an object, by indices into the text. Ranges end before their `end`. */
export interface MemberRange {
  /** The key, without its quotes. */
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly keyHasEscapes: boolean;
  /** The value, its quotes or brackets included. */
  readonly valueStart: number;
  readonly valueEnd: number;
  /** A number is an integer where it has neither fraction nor exponent. */
  readonly kind: SkippedKind;
  readonly valueHasEscapes: boolean;
}

/** Takes the members of an object as they are met, such as a list of them. */
export interface MemberReceiver {
  push(member: MemberRange): unknown;
}

/** Bytes that end a run of ordinary ones inside a string: quote, backslash, control characters and, until the first was seen, non-ASCII. */
const ENDS_ASCII_RUN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < SPACE || byte === QUOTE || byte === BACKSLASH || byte > 0x7f ? 1 : 0,
);
const ENDS_RUN = Uint8Array.from({ length: 256 }, (_, byte) => (byte < SPACE || byte === QUOTE || byte === BACKSLASH ? 1 : 0));

/** The letter that begins the escape of a code unit. */
export const UNICODE_ESCAPE = 0x75;
const IS_SHORT_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) => ('"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0));

/**
 * Steps over JSON values (RFC 8259) in a byte array and checks their grammar. The byte after the text must be a NUL, which JSON allows
 * nowhere, so that no step has to look for the end of the text. Every `skip…` takes an index and returns the one after what it skipped, or
 * -1 where the text is no JSON; `fault` and `faultAt` then say why and where. Where `sawNonAscii` is set, the caller checks that the bytes
 * are UTF-8.
 */
export class JsonSkipper {
  /** The kind of what `skipValue` stepped over last. */
  kind: SkippedKind = 'null';
  sawNonAscii = false;
  /** A raw newline or carriage return stands between two tokens. */
  sawNewline = false;
  /** Where the escapes of halves of surrogate pairs begin, at their `u`: the caller repairs them. */
  readonly halves: number[] = [];
  fault: JsonFault = 'syntax';
  faultAt = 0;
  /** Number of escapes that were met so far. */
  #escapes = 0;
  #endsRun = ENDS_ASCII_RUN;

  reset(): void {
    this.sawNonAscii = false;
    this.sawNewline = false;
    this.halves.length = 0;
    this.#endsRun = ENDS_ASCII_RUN;
  }

  skipBlank(bytes: Uint8Array, at: number): number {
    // Small enough to be inlined: mostly there is no blank.
    return bytes[at]! > SPACE ? at : this.#skipBlanks(bytes, at);
  }

  skipValue(bytes: Uint8Array, at: number, depth: number): number {
    switch (bytes[at]) {
      case QUOTE:
        this.kind = 'string';
        return this.#skipString(bytes, at + 1);
      case OPEN_BRACE: {
        const end = this.skipObject(bytes, at, depth + 1);
        this.kind = 'object';
        return end;
      }
      case OPEN_BRACKET: {
        const end = this.#skipArray(bytes, at + 1, depth + 1);
        this.kind = 'array';
        return end;
      }
      case 0x74:
        return this.#skipWord(bytes, at, 'true');
      case 0x66:
        return this.#skipWord(bytes, at, 'false');
      case 0x6e:
        return this.#skipWord(bytes, at, 'null');
      default:
        return this.#skipNumber(bytes, at);
    }
  }

  /** `at` is the opening brace. The members are added to `members`, if any are wanted. */
  skipObject(bytes: Uint8Array, at: number, depth: number, members: MemberReceiver | null = null): number {
    if (depth > MAX_NESTING) {
      return this.fail(at + 1, 'nesting');
    }
    let index = this.skipBlank(bytes, at + 1);
    if (bytes[index] === CLOSE_BRACE) {
      return index + 1;
    }
    for (;;) {
      index = this.#skipMember(bytes, index, depth, members);
      if (index < 0) {
        return -1;
      }
      if (bytes[index] === CLOSE_BRACE) {
        return index + 1;
      }
      if (bytes[index] !== COMMA) {
        return this.fail(index, 'syntax');
      }
      index = this.skipBlank(bytes, index + 1);
    }
  }

  fail(at: number, fault: JsonFault): -1 {
    this.fault = fault;
    this.faultAt = at;
    return -1;
  }

  #skipBlanks(bytes: Uint8Array, at: number): number {
    let index = at;
    for (let byte = bytes[index]!; byte <= SPACE; byte = bytes[index]!) {
      if (byte === NEWLINE || byte === CARRIAGE_RETURN) {
        this.sawNewline = true;
      } else if (byte !== SPACE && byte !== TAB) {
        return index;
      }
      index++;
    }
    return index;
  }

  #skipMember(bytes: Uint8Array, at: number, depth: number, members: MemberReceiver | null): number {
    if (bytes[at] !== QUOTE) {
      return this.fail(at, 'syntax');
    }
    const escapesBefore = this.#escapes;
    const nameEnd = this.#skipString(bytes, at + 1);
    if (nameEnd < 0) {
      return -1;
    }
    const escapesInKey = this.#escapes;
    const colon = this.skipBlank(bytes, nameEnd);
    if (bytes[colon] !== COLON) {
      return this.fail(colon, 'syntax');
    }
    const valueStart = this.skipBlank(bytes, colon + 1);
    const valueEnd = this.skipValue(bytes, valueStart, depth);
    if (valueEnd < 0) {
      return -1;
    }
    members?.push({
      keyStart: at + 1,
      keyEnd: nameEnd - 1,
      keyHasEscapes: escapesInKey !== escapesBefore,
      valueStart,
      valueEnd,
      kind: this.kind,
      valueHasEscapes: this.#escapes !== escapesInKey,
    });
    return this.skipBlank(bytes, valueEnd);
  }

  /** `at` is after the opening quote. */
  #skipString(bytes: Uint8Array, at: number): number {
    let index = at;
    for (;;) {
      const endsRun = this.#endsRun;
      while (endsRun[bytes[index]!] === 0) {
        index++;
      }
      const byte = bytes[index]!;
      if (byte === QUOTE) {
        return index + 1;
      }
      if (byte === BACKSLASH) {
        index = this.#skipEscape(bytes, index + 1);
        if (index < 0) {
          return -1;
        }
      } else if (byte > 0x7f) {
        this.sawNonAscii = true;
        this.#endsRun = ENDS_RUN;
      } else {
        return this.fail(index, 'syntax');
      }
    }
  }

  /**
   * `at` is after the backslash; a surrogate pair is one escape. Half of a pair is noted: JSON's grammar lets it pass, but no UTF-8 text
   * can hold it, and the columns are UTF-8.
   */
  #skipEscape(bytes: Uint8Array, at: number): number {
    this.#escapes++;
    const byte = bytes[at]!;
    if (byte !== UNICODE_ESCAPE) {
      return IS_SHORT_ESCAPE[byte] === 1 ? at + 1 : this.fail(at, 'escape');
    }
    const unit = codeUnit(bytes, at + 1);
    if (unit < 0) {
      return this.fail(at, 'escape');
    }
    if (unit < 0xd800 || unit > 0xdfff) {
      return at + 5;
    }
    const isHigh = unit < 0xdc00 && bytes[at + 5] === BACKSLASH && bytes[at + 6] === UNICODE_ESCAPE;
    const low = isHigh ? codeUnit(bytes, at + 7) : -1;
    if (low >= 0xdc00 && low <= 0xdfff) {
      return at + 11;
    }
    this.halves.push(at);
    return at + 5;
  }

  #skipArray(bytes: Uint8Array, at: number, depth: number): number {
    if (depth > MAX_NESTING) {
      return this.fail(at, 'nesting');
    }
    let index = this.skipBlank(bytes, at);
    if (bytes[index] === CLOSE_BRACKET) {
      return index + 1;
    }
    for (;;) {
      index = this.skipValue(bytes, index, depth);
      if (index < 0) {
        return -1;
      }
      index = this.skipBlank(bytes, index);
      if (bytes[index] === CLOSE_BRACKET) {
        return index + 1;
      }
      if (bytes[index] !== COMMA) {
        return this.fail(index, 'syntax');
      }
      index = this.skipBlank(bytes, index + 1);
    }
  }

  #skipWord(bytes: Uint8Array, at: number, word: 'true' | 'false' | 'null'): number {
    this.kind = word;
    for (let index = 1; index < word.length; index++) {
      if (bytes[at + index] !== word.charCodeAt(index)) {
        return this.fail(at, 'syntax');
      }
    }
    return at + word.length;
  }

  #skipNumber(bytes: Uint8Array, at: number): number {
    let index = bytes[at] === MINUS ? at + 1 : at;
    if (!isDigit(bytes[index])) {
      return this.fail(index, 'syntax');
    }
    index = bytes[index] === DIGIT_0 ? index + 1 : skipDigits(bytes, index);
    this.kind = 'integer';
    if (bytes[index] === 0x2e) {
      this.kind = 'number';
      if (!isDigit(bytes[index + 1])) {
        return this.fail(index + 1, 'syntax');
      }
      index = skipDigits(bytes, index + 1);
    }
    if (bytes[index] === 0x65 || bytes[index] === 0x45) {
      this.kind = 'number';
      index += bytes[index + 1] === 0x2b || bytes[index + 1] === MINUS ? 2 : 1;
      if (!isDigit(bytes[index])) {
        return this.fail(index, 'syntax');
      }
      index = skipDigits(bytes, index);
    }
    return index;
  }
}

function skipDigits(bytes: Uint8Array, at: number): number {
  let index = at;
  while (isDigit(bytes[index])) {
    index++;
  }
  return index;
}

/** What each byte is as a hexadecimal digit, -1 for others. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()));

/** The UTF-16 code unit written as four hexadecimal digits, or -1. */
export function codeUnit(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let index = at; index < at + 4; index++) {
    const digit = DIGITS[bytes[index] ?? 0] ?? -1;
    if (digit < 0) return -1;
    unit = 16 * unit + digit;
  }
  return unit;
}
