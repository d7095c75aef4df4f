import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, isBlank, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../query/json-bytes.ts';

/** More lines that begin with a bracket are not open inside one another in what a program writes. */
const MAX_OPEN_LINES = 8;

/** Follows the brackets and strings of a JSON text, byte by byte. */
export class BracketTracker {
  /** The brackets that are open. */
  readonly #open: number[] = [];
  /** How many were open before each of the noted lines whose bracket is still open. */
  readonly #openLines: number[] = [];
  #inString = false;
  #escaped = false;
  /** The last byte that is not blank. */
  #last = 0;

  reset(): void {
    this.#open.length = 0;
    this.#openLines.length = 0;
    [this.#inString, this.#escaped, this.#last] = [false, false, 0];
  }

  /** Neither in a string nor in a bracket. */
  get isOutside(): boolean {
    return this.#open.length === 0 && !this.#inString;
  }

  step(byte: number): void {
    if (this.#inString) {
      this.#stepInString(byte);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#open.push(byte);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#open.pop();
      if ((this.#openLines.at(-1) ?? -1) >= this.#open.length) this.#openLines.pop();
    } else if (byte === QUOTE) {
      this.#inString = true;
    }
    if (!isBlank(byte)) this.#last = byte;
  }

  /** Whether JSON allows a bracket to open here: behind a colon, and in a list at its beginning or behind a comma. */
  get mayOpen(): boolean {
    if (this.#inString || this.#openLines.length >= MAX_OPEN_LINES) return false;
    return this.#last === COLON || this.#last === OPEN_BRACKET || (this.#last === COMMA && this.#open.at(-1) === OPEN_BRACKET);
  }

  /** To be called before the bracket that a line begins with. */
  noteLine(): void {
    this.#openLines.push(this.#open.length);
  }

  #stepInString(byte: number): void {
    if (this.#escaped) {
      this.#escaped = false;
    } else if (byte === BACKSLASH) {
      this.#escaped = true;
    } else if (byte === QUOTE) {
      this.#inString = false;
    }
  }
}
