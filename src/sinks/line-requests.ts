import { NEWLINE } from '../../query/json-bytes.ts';

/** The longest beginning of newline-terminated text that ends at a line end and has at most `maxBytes`; at least one line. */
export function leadingLines(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes;
  const within = maxBytes < 1 ? -1 : bytes.lastIndexOf(NEWLINE, maxBytes - 1);
  const newline = within >= 0 ? within : bytes.indexOf(NEWLINE);
  return newline < 0 ? bytes : bytes.subarray(0, newline + 1);
}

/** Whether newline-terminated text has more than one line. */
export function hasSeveralLines(bytes: Buffer): boolean {
  const newline = bytes.indexOf(NEWLINE);
  return newline >= 0 && newline < bytes.length - 1;
}

/** Newline-terminated text near half of the length of another; a line that is longer is left whole. */
export function inHalves(bytes: Buffer): readonly Buffer[] {
  const first = leadingLines(bytes, Math.ceil(bytes.length / 2));
  return [first, bytes.subarray(first.length)].filter(({ length }) => length > 0);
}

/**
 * Divides lines into requests of a size that the receiver takes. A size that it has once found too large (413) is halved for all later
 * requests, so that no batch is sent only to be refused again.
 */
export class LineRequests {
  #maxBytes: number;

  /** `maxBytes` is the most that the lines of a request take. A longer line is a request by itself. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Calls `send` with newline-terminated lines, in order. It resolves with `too large` for several lines that the receiver finds too large,
   * or with those that are to be sent next. Rejects as `send` does.
   */
  async sendAll(lines: Buffer, send: (lines: Buffer) => Promise<'too large' | readonly Buffer[]>): Promise<void> {
    const waiting = [lines];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const chunk = leadingLines(next, this.#maxBytes);
      if (chunk.length < next.length) waiting.unshift(next.subarray(chunk.length));
      const again = await send(chunk);
      if (again !== 'too large') waiting.unshift(...again);
      else {
        this.#maxBytes = Math.min(this.#maxBytes, Math.ceil(chunk.length / 2));
        waiting.unshift(chunk);
      }
    }
  }
}
