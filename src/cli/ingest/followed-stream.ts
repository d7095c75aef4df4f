import { behindNuls, NEWLINE, newlinesIn } from '../../../query/json-bytes.ts';
import { CommandFailed } from '../command.ts';
import { type LineBatch, type LineSource, MAX_LINE_BATCH_BYTES, wholeLines } from './line-batch.ts';

/** A longer line ends the command: it is held until its end comes. */
export const MAX_STREAMED_LINE_BYTES = 64 * 1024 * 1024;

/** Standard input, which is sent line by line as it comes. It has no state: what was read and not sent is lost with the process. */
export class FollowedStream implements LineSource {
  readonly name = 'standard input';
  readonly #chunks: AsyncIterator<Uint8Array>;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #hasWholeLine = false;
  /** The bytes that wait end in the middle of a line. */
  #isInLine = false;
  #isReading = false;
  #hasEnded = false;
  #fault: Error | null = null;
  #sent = { bytes: 0, lines: 0 };
  #batch: LineBatch | null = null;

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  get isDone(): boolean {
    return this.#hasEnded && this.#waitingBytes === 0;
  }

  async look(): Promise<void> {
    // Nothing is to be looked at: a stream has no name that another one could take.
  }

  /** Throws CommandFailed where the stream cannot be read or a line is too long. */
  async next(): Promise<LineBatch | null> {
    if (this.#fault !== null) throw new CommandFailed(`standard input cannot be read: ${this.#fault.message}`, { cause: this.#fault });
    this.#readOn();
    if (!this.#hasWholeLine && this.#waitingBytes > MAX_STREAMED_LINE_BYTES) {
      throw new CommandFailed(`standard input, line ${this.#sent.lines + 1}: it is longer than ${MAX_STREAMED_LINE_BYTES} bytes`);
    }
    if (!this.#hasWholeLine && !(this.#hasEnded && this.#waitingBytes > 0)) return null;
    const all = Buffer.concat(this.#waiting);
    this.#waiting = [all];
    const whole = wholeLines(all);
    const bytes = whole.length > 0 ? whole : all;
    const { bytes: sentBytes, lines: linesBefore } = this.#sent;
    this.#batch = { bytes: [bytes], linesBefore, lines: Math.max(1, newlinesIn(bytes)), end: sentBytes + bytes.length };
    return this.#batch;
  }

  async accepted(): Promise<void> {
    if (this.#batch === null) return;
    const { end, lines, linesBefore } = this.#batch;
    const rest = Buffer.concat(this.#waiting).subarray(end - this.#sent.bytes);
    [this.#waiting, this.#waitingBytes, this.#hasWholeLine] = [[rest], rest.length, rest.includes(NEWLINE)];
    this.#sent = { bytes: end, lines: linesBefore + lines };
    this.#batch = null;
  }

  async position(): Promise<string> {
    const { bytes, lines } = this.#sent;
    const waits = this.#waitingBytes === 0 ? '' : `; the ${this.#waitingBytes} bytes behind it are not sent`;
    return `standard input was sent up to byte ${bytes} (line ${lines})${waits}`;
  }

  async close(): Promise<void> {
    // A read that is under way ends with the process.
  }

  #add(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#hasWholeLine ||= bytes.includes(NEWLINE);
    this.#isInLine = bytes.length === 0 ? this.#isInLine : bytes.at(-1) !== NEWLINE;
  }

  /** The bytes without NULs with which a line begins, be it this one or one under way: there may be more of them than a line may have. */
  #withoutNuls(bytes: Uint8Array): Uint8Array {
    const rest = this.#isInLine ? bytes : bytes.subarray(behindNuls(bytes));
    const lineStart = rest.lastIndexOf(NEWLINE) + 1;
    return lineStart > 0 && behindNuls(rest, lineStart) === rest.length ? rest.subarray(0, lineStart) : rest;
  }

  /** Reads on until enough whole lines wait to be sent. */
  #readOn(): void {
    if (this.#isReading || this.#hasEnded || (this.#hasWholeLine && this.#waitingBytes >= MAX_LINE_BATCH_BYTES)) return;
    if (this.#waitingBytes > MAX_STREAMED_LINE_BYTES) return;
    this.#isReading = true;
    this.#chunks.next().then(
      (read) => {
        this.#isReading = false;
        if (read.done === true) {
          this.#hasEnded = true;
          return;
        }
        this.#add(this.#withoutNuls(read.value));
        this.#readOn();
      },
      (error: Error) => {
        [this.#isReading, this.#fault] = [false, error];
      },
    );
  }
}
