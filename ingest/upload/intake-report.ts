/** Rejected events beyond so many are only counted, except those that are not kept as dead letters. */
export const MAX_REJECTED_LISTED = 1000;

/** An input with more rejected events is probably not one of events, and is not read on. */
export const MAX_REJECTED = 10_000;

/** A rejected event. */
export interface RejectedEvent {
  /** The event's index in the input, from 0. */
  readonly index: number;
  /** Its line in the decompressed input, from 1. */
  readonly line: number;
  readonly reason: string;
  /** Present where the event is not kept as a dead letter, because the quota of dead letters is used up. */
  readonly kept?: false;
}

/** What a rejected event takes in memory beside its reason, about. */
const REJECTION_BYTES = 64;

/** The rejected events of an intake. Those that the report does not list are forgotten once their dead letters are stored. */
export class Rejections {
  readonly #first: RejectedEvent[] = [];
  readonly #lost: RejectedEvent[] = [];
  #inBatch: RejectedEvent[] = [];
  /** How many there were. */
  count = 0;
  #bytes = 0;

  /** The first MAX_REJECTED_LISTED, and behind them those that are not kept. */
  get listed(): readonly RejectedEvent[] {
    return [...this.#first, ...this.#lost];
  }

  /** What those that are remembered take in memory with another one, about. */
  bytesWith(rejection: RejectedEvent): number {
    return this.#bytes + memoryOf(rejection);
  }

  add(rejection: RejectedEvent): void {
    this.count += 1;
    this.#bytes += memoryOf(rejection);
    this.#inBatch.push(rejection);
    if (this.#first.length < MAX_REJECTED_LISTED) this.#first.push(rejection);
  }

  /** Begins another batch of dead letters. The function takes the indices among those of the batch before that were not kept. */
  takeBatch(): (notKept: readonly number[]) => void {
    const letters = this.#inBatch;
    const before = this.count - letters.length;
    this.#inBatch = [];
    return (notKept) => {
      for (const letter of letters.slice(Math.max(0, MAX_REJECTED_LISTED - before))) this.#bytes -= memoryOf(letter);
      for (const index of notKept) {
        const lost: RejectedEvent = { ...letters[index]!, kept: false };
        if (before + index < MAX_REJECTED_LISTED) {
          this.#first[before + index] = lost;
        } else {
          this.#lost.push(lost);
          this.#bytes += memoryOf(lost);
        }
      }
    };
  }
}

function memoryOf({ reason }: RejectedEvent): number {
  return REJECTION_BYTES + reason.length;
}

/** The result of an intake. */
export interface IntakeReport {
  /** Events that are durable and searchable, duplicates included. */
  readonly accepted: number;
  /** Accepted events that were stored before, by an earlier request or earlier in this one; null where the store finds them later. */
  readonly duplicates: number | null;
  /** Events older than the retention. */
  readonly expired: number;
  /** Accepted events in whose texts something became U+FFFD. */
  readonly repaired: number;
  /** The first rejected events, and all that are not kept, in order. The others are dead letters. */
  readonly rejected: readonly RejectedEvent[];
  readonly rejectedCount: number;
  /** Records that their mapping leaves out. Absent where the events are in our own form. */
  readonly leftOut?: number;
}

/** Thrown by decompression, splitters and threads where the rest of an input cannot be read. */
export class UnreadableInput extends Error {
  readonly code: IntakeErrorCode;

  constructor(code: IntakeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableInput';
    this.code = code;
  }
}

/** No thread was free for records in the time that their sender waits. */
export class ThreadsBusy extends Error {
  override readonly name = 'ThreadsBusy';

  constructor(waitMs: number) {
    super(`no thread was free for the records for ${waitMs} ms`);
  }
}

/** What became of events, or of records of another product, of which some may be left out. */
export type IntakeCounts = Pick<IntakeReport, 'accepted' | 'duplicates' | 'expired' | 'repaired' | 'rejectedCount' | 'leftOut'>;

/** `accepted 3 (1 stored already), expired 0, rejected 0`. */
export function countsText({ accepted, duplicates, expired, repaired, rejectedCount, leftOut }: IntakeCounts): string {
  const already = duplicates === null ? '' : ` (${duplicates} stored already)`;
  const withReplacements = repaired === 0 ? '' : `, repaired ${repaired}`;
  const others = leftOut === undefined ? '' : `, left out ${leftOut}`;
  return `accepted ${accepted}${already}${withReplacements}, expired ${expired}, rejected ${rejectedCount}${others}`;
}

/** Throws where the input has more bytes than are allowed. `line` is where it has been read to. */
export function requireAtMost(maxBytes: number, bytes: number, line: number): void {
  if (bytes > maxBytes) {
    const message = `line ${line}: the input is longer than ${maxBytes} bytes (decompressed), which are allowed in one request`;
    throw new UnreadableInput('input_too_long', message);
  }
}

/** The error of an input that ends inside an array. The element that was cut off becomes part of it, not a dead letter. */
export function unclosedArray(element: number): UnreadableInput {
  return new UnreadableInput('unclosed_array', `the input ends inside a JSON array, in element ${element}: "]" is missing`);
}

/** The reasons why an intake stops before the end of its input. */
type IntakeErrorCode = 'corrupt_input' | 'too_many_rejected' | 'input_too_long' | 'too_much_memory' | 'unclosed_array' | 'source_failed';

/**
 * The input could not be read to its end. The events before are stored, and `report` counts them. Sending the whole input again is safe,
 * because the same event is stored once.
 */
export class IntakeError extends Error {
  readonly code: IntakeErrorCode;
  readonly report: IntakeReport;

  constructor(code: IntakeErrorCode, what: string, report: IntakeReport, options?: ErrorOptions) {
    const { accepted, expired, rejected, rejectedCount, leftOut } = report;
    const lost = rejected.filter(({ kept }) => kept === false).length;
    const ofThem = lost === 0 ? '' : `, of which ${lost} are not kept as dead letters`;
    const others = `${rejectedCount} were rejected${ofThem}${leftOut === undefined ? '' : `, ${leftOut} were left out`}`;
    super(`${what}; before that ${accepted} events were stored, ${expired} had expired, ${others}`, options);
    this.name = 'IntakeError';
    this.code = code;
    this.report = report;
  }
}
