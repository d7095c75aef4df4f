import { AnswerTooLarge } from './server-error.ts';
import type { ClickhouseSettings } from './settings.ts';

/** So much of what an answer is made of is always read, so that large results of others do not keep usual searches away. */
const SMALL_BYTES = 256 * 1024;

/** What a row takes beside its text. */
export const ROW_BYTES = 64;

/** Bounds what the program holds of the results of statements until it has made answers of them. */
export class ResultMemory {
  readonly #capacityBytes: number;
  #takenBytes = 0;

  /** `capacityBytes`: of the texts of all results together. */
  constructor(capacityBytes: number) {
    this.#capacityBytes = Math.floor(capacityBytes);
  }

  /**
   * Has the server end a statement with more rows than would fit alone. It is not asked to count bytes (`max_result_bytes`), because it
   * counts all values of a dictionary with the few that are in the result.
   */
  get settings(): ClickhouseSettings {
    return { max_result_rows: Math.floor(this.#capacityBytes / ROW_BYTES), result_overflow_mode: 'throw' };
  }

  /** Begins to count the results that an answer is made of. */
  begin(): HeldResults {
    return new HeldResults((bytes) => this.#take(bytes));
  }

  #take(bytes: number): void {
    if (bytes > 0 && this.#takenBytes + bytes > this.#capacityBytes) {
      throw new AnswerTooLarge(`what ClickHouse answers does not fit into ${this.#capacityBytes} bytes beside other results`);
    }
    this.#takenBytes += bytes;
  }
}

/** The results that an answer is made of, which count until it is disposed. */
export class HeldResults implements Disposable {
  readonly #take: (bytes: number) => void;
  #bytes = 0;

  constructor(take: (bytes: number) => void) {
    this.#take = take;
  }

  /** Counts further bytes. Throws {@link AnswerTooLarge}, and counts nothing, where there is no room for them. */
  add(bytes: number): void {
    this.#take(largePart(this.#bytes + bytes) - largePart(this.#bytes));
    this.#bytes += bytes;
  }

  [Symbol.dispose](): void {
    this.#take(-largePart(this.#bytes));
    this.#bytes = 0;
  }
}

function largePart(bytes: number): number {
  return Math.max(0, bytes - SMALL_BYTES);
}
