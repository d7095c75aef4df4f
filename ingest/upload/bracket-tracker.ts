import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, isBlank, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../query/json-bytes.ts';

/** Follows the brackets and strings of a JSON text, byte by byte. */
export class BracketTracker {
  /** The brackets that are open. */
  readonly #open: number[] = [];
  #inString = false;
  #escaped = false;
  /** The last byte that is not blank. */
  #last = 0;

  reset(): void {
    this.#open.length = 0;
    [this.#inString, this.#escaped, this.#last] = [false, false, 0];
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
        this.#open.push(byte);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#open.pop();
    }
    if (!isBlank(byte)) this.#last = byte;
  }

  /** Whether JSON allows a bracket to open here: behind a colon, and in a list at its beginning or behind a comma. */
  get mayOpen(): boolean {
    if (this.#inString) return false;
    return this.#last === COLON || this.#last === OPEN_BRACKET || (this.#last === COMMA && this.#open.at(-1) === OPEN_BRACKET);
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
