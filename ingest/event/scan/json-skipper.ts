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
} from './json-bytes.ts';
import { LONE_SURROGATE, skipEscape } from './json-escape.ts';

/** Deeper events are refused: readers of the stored log may be recursive. */
export const DEEPEST_NESTING = 1000;

export type JsonFault = 'syntax' | 'lone surrogate' | 'nesting';

/** What a value is; a number is `integer` when it has neither fraction nor exponent. */
export const KIND = { string: 1, escapedString: 2, integer: 3, number: 4, object: 5, array: 6, true: 7, false: 8, null: 9 } as const;

/** Bytes that end a run of ordinary ones inside a string: quote, backslash, control characters and, until the first was seen, non-ASCII. */
const ENDS_ASCII_RUN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < SPACE || byte === QUOTE || byte === BACKSLASH || byte > 0x7f ? 1 : 0,
);
const ENDS_RUN = Uint8Array.from({ length: 256 }, (_, byte) => (byte < SPACE || byte === QUOTE || byte === BACKSLASH ? 1 : 0));

/**
 * Steps over JSON values in a byte array and checks their grammar on the way. The byte after the text must be a NUL: as that is valid
 * nowhere in JSON, no step has to look at where the text ends. Every `skip…` takes an index and returns the one after what it skipped,
 * or -1 where the text is no JSON; `fault` and `faultAt` then say why and where. The bytes are not checked to be UTF-8:
 * where `sawNonAscii` is set, that is left to the caller.
 */
export class JsonSkipper {
  /** What `skipValue` stepped over last, one of `KIND`. */
  kind = 0;
  sawNonAscii = false;
  /** A raw newline or carriage return stands between two tokens. */
  sawNewline = false;
  fault: JsonFault = 'syntax';
  faultAt = 0;
  /** How many escapes were met so far. */
  escapes = 0;
  #endsRun = ENDS_ASCII_RUN;

  reset(): void {
    this.sawNonAscii = false;
    this.sawNewline = false;
    this.#endsRun = ENDS_ASCII_RUN;
  }

  skipBlank(bytes: Uint8Array, at: number): number {
    // Small enough to be inlined: mostly there is no blank.
    return bytes[at]! > SPACE ? at : this.#skipBlanks(bytes, at);
  }

  skipValue(bytes: Uint8Array, at: number, depth: number): number {
    switch (bytes[at]) {
      case QUOTE: {
        const escapes = this.escapes;
        const end = this.skipString(bytes, at + 1);
        this.kind = escapes === this.escapes ? KIND.string : KIND.escapedString;
        return end;
      }
      case OPEN_BRACE: {
        const end = this.#skipObject(bytes, at + 1, depth + 1);
        this.kind = KIND.object;
        return end;
      }
      case OPEN_BRACKET: {
        const end = this.#skipArray(bytes, at + 1, depth + 1);
        this.kind = KIND.array;
        return end;
      }
      case 0x74:
        this.kind = KIND.true;
        return bytes[at + 1] === 0x72 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x65 ? at + 4 : this.fail(at, 'syntax');
      case 0x66:
        this.kind = KIND.false;
        return bytes[at + 1] === 0x61 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x73 && bytes[at + 4] === 0x65
          ? at + 5
          : this.fail(at, 'syntax');
      case 0x6e:
        this.kind = KIND.null;
        return bytes[at + 1] === 0x75 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x6c ? at + 4 : this.fail(at, 'syntax');
      default:
        return this.#skipNumber(bytes, at);
    }
  }

  /** `at` is behind the opening quote. */
  skipString(bytes: Uint8Array, at: number): number {
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
        this.escapes++;
        const end = skipEscape(bytes, index + 1);
        if (end < 0) {
          return this.fail(index + 1, end === LONE_SURROGATE ? 'lone surrogate' : 'syntax');
        }
        index = end;
      } else if (byte > 0x7f) {
        this.sawNonAscii = true;
        this.#endsRun = ENDS_RUN;
      } else {
        return this.fail(index, 'syntax');
      }
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

  #skipObject(bytes: Uint8Array, at: number, depth: number): number {
    if (depth > DEEPEST_NESTING) {
      return this.fail(at, 'nesting');
    }
    let index = this.skipBlank(bytes, at);
    if (bytes[index] === CLOSE_BRACE) {
      return index + 1;
    }
    for (;;) {
      if (bytes[index] !== QUOTE) {
        return this.fail(index, 'syntax');
      }
      index = this.skipString(bytes, index + 1);
      if (index < 0) {
        return -1;
      }
      index = this.skipBlank(bytes, index);
      if (bytes[index] !== COLON) {
        return this.fail(index, 'syntax');
      }
      index = this.skipValue(bytes, this.skipBlank(bytes, index + 1), depth);
      if (index < 0) {
        return -1;
      }
      index = this.skipBlank(bytes, index);
      if (bytes[index] === CLOSE_BRACE) {
        return index + 1;
      }
      if (bytes[index] !== COMMA) {
        return this.fail(index, 'syntax');
      }
      index = this.skipBlank(bytes, index + 1);
    }
  }

  #skipArray(bytes: Uint8Array, at: number, depth: number): number {
    if (depth > DEEPEST_NESTING) {
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

  #skipNumber(bytes: Uint8Array, at: number): number {
    let index = bytes[at] === MINUS ? at + 1 : at;
    if (!isDigit(bytes[index])) {
      return this.fail(index, 'syntax');
    }
    index = bytes[index] === DIGIT_0 ? index + 1 : skipDigits(bytes, index);
    this.kind = KIND.integer;
    if (bytes[index] === 0x2e) {
      this.kind = KIND.number;
      if (!isDigit(bytes[index + 1])) {
        return this.fail(index + 1, 'syntax');
      }
      index = skipDigits(bytes, index + 1);
    }
    if (bytes[index] === 0x65 || bytes[index] === 0x45) {
      this.kind = KIND.number;
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
