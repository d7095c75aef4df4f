import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, isBlank, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../query/json-bytes.ts';

/** So many open brackets are remembered, more than any event has inside one another: a gigabyte of them may be a megabyte of gzip. */
const MOST_REMEMBERED = 4_096;

/** Follows the brackets and strings of a JSON text, byte by byte. */
export class BracketTracker {
  /** The brackets that are open, the outermost first. */
  readonly #open: number[] = [];
  /** How many more are open inside of these. */
  #deeper = 0;
  #inString = false;
  #escaped = false;
  /** The last byte that is not blank. */
  #last = 0;

  reset(): void {
    this.#open.length = 0;
    [this.#deeper, this.#inString, this.#escaped, this.#last] = [0, false, false, 0];
  }

  /** Neither in a string nor in a bracket. */
  get isOutside(): boolean {
    return this.#open.length === 0 && !this.#inString;
  }

  step(byte: number): void {
    if (this.#inString) {
      this.#stepInString(byte);
      return;
    }
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        return;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (this.#open.length < MOST_REMEMBERED) this.#open.push(byte);
        else this.#deeper++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.#deeper > 0) this.#deeper--;
        else this.#open.pop();
    }
    if (!isBlank(byte)) this.#last = byte;
  }

  /** Whether JSON allows a bracket to open here: behind a colon, and in a list at its beginning or behind a comma. */
  get mayOpen(): boolean {
    if (this.#inString) return false;
    // What is not remembered counts as a list, so that a text inside of it is never taken for one of its own.
    const isInList = this.#deeper > 0 || this.#open.at(-1) === OPEN_BRACKET;
    return this.#last === COLON || this.#last === OPEN_BRACKET || (this.#last === COMMA && isInList);
  }

  #stepInString(byte: number): void {
    if (this.#escaped) {
      this.#escaped = false;
    } else if (byte === BACKSLASH) {
      this.#escaped = true;
    } else if (byte === QUOTE) {
      [this.#inString, this.#last] = [false, byte];
    }
  }
}
