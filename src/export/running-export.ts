import type { ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { EventRow } from '../../query/plan/search-result.ts';
import { type AnswerPart, joinParts } from '../http/answer-parts.ts';
import { ClientHungUp, DeadlinePassed, hangUpSignal } from '../http/interruption.ts';
import type { ExportFormat } from './export-format.ts';
import type { ExportOutcome } from './export-slots.ts';

export interface ExportOrder {
  readonly format: ExportFormat;
  /** Reads all rows until the signal aborts. */
  readonly read: (signal: AbortSignal) => AsyncIterable<Iterable<EventRow>>;
  readonly response: ServerResponse;
  /** The whole export may take so long. */
  readonly deadlineMs: number;
  /** The client may take no byte for so long. */
  readonly idleMs: number;
  /** Called with the number of rows of each part that is written. */
  readonly onRows: (count: number) => void;
  /** Called once, when the export holds nothing any more. The reason says why it ended early; it is null after a whole export. */
  readonly onEnd: (outcome: ExportOutcome, reason: unknown) => void;
}

/**
 * Begins an export; resolves with its text once the first rows are there, and rejects if they cannot be read. A later failure resets the
 * connection: the client must not take an incomplete export for a whole one.
 */
export async function beginExport(order: ExportOrder): Promise<Readable> {
  const { format, read, response, deadlineMs, idleMs, onRows, onEnd } = order;
  const stop = new AbortController();
  const { signal } = stop;
  const cut = (reason: unknown): void => {
    stop.abort(reason);
    // Without chunks (HTTP/1.0) an orderly close marks the end of the answer, so the connection is reset. Before the headers are sent, an
    // error can still be answered.
    if (response.headersSent) response.socket?.resetAndDestroy();
  };
  // AbortSignal.any may give the reason of either signal if both have aborted, and cutting off also hangs up.
  const hungUp = hangUpSignal(response);
  hungUp.addEventListener('abort', () => stop.abort(hungUp.reason), { once: true });
  if (hungUp.aborted) stop.abort(hungUp.reason);
  const timer = setTimeout(() => cut(new DeadlinePassed(deadlineMs)), deadlineMs);
  const end = (error: unknown): void => {
    clearTimeout(timer);
    const reason = signal.aborted ? signal.reason : error;
    onEnd(outcomeOf(reason), reason);
  };
  const pieces = read(signal)[Symbol.asyncIterator]();
  try {
    const first = await pieces.next();
    const text = Readable.from(exportText(format, first, pieces, onRows), { objectMode: false });
    watchReader(response, idleMs, cut);
    text.once('error', cut);
    whenBothClosed(text, response, () => end(null));
    return text;
  } catch (error) {
    end(error);
    throw error;
  }
}

/** So many rows are written at a time, which takes a millisecond or so. */
const ROWS_AT_ONCE = 256;

/**
 * Yields the text of an export, some hundred rows at a time, and reads each piece while the one before it is written. `first` is the first
 * result of the iterator `rest`: it is read before anything is sent, so that a failure at the start can be answered.
 */
async function* exportText(
  format: ExportFormat,
  first: IteratorResult<Iterable<EventRow>>,
  rest: AsyncIterator<Iterable<EventRow>>,
  onRows: (count: number) => void,
): AsyncGenerator<Buffer, void, void> {
  let next: Promise<IteratorResult<Iterable<EventRow>>> | undefined;
  try {
    if (format.header !== '') yield Buffer.from(format.header);
    for (let piece = first; piece.done !== true; piece = await next) {
      next = rest.next();
      // It is awaited when this piece is written, or never.
      next.catch(() => {});
      yield* textOf(format, piece.value, onRows);
    }
  } finally {
    await Promise.allSettled([next]);
    await rest.return?.();
  }
}

function* textOf(format: ExportFormat, rows: Iterable<EventRow>, onRows: (count: number) => void): Generator<Buffer, void, void> {
  let [parts, count]: [AnswerPart[], number] = [[], 0];
  for (const row of rows) {
    parts.push(...format.writeRow(row));
    count += 1;
    if (count < ROWS_AT_ONCE) continue;
    onRows(count);
    yield joinParts(parts);
    [parts, count] = [[], 0];
  }
  if (count === 0) return;
  onRows(count);
  yield joinParts(parts);
}

/** The reason of an abort when the client stopped reading. */
class ReaderIdle extends Error {
  override readonly name = 'ReaderIdle';

  constructor(idleMs: number) {
    super(`the client took no byte for ${idleMs} ms`);
  }
}

/** Calls `onIdle` when the client took none of the waiting bytes for `idleMs`. If no bytes wait, the server is slow and nothing happens. */
function watchReader(response: ServerResponse, idleMs: number, onIdle: (reason: ReaderIdle) => void): void {
  response.setTimeout(idleMs, () => {
    if (response.writableLength > 0) onIdle(new ReaderIdle(idleMs));
    else response.setTimeout(idleMs);
  });
}

/** Calls `act` when the text has released its source and the response was sent or its client is gone. */
function whenBothClosed(text: Readable, response: ServerResponse, act: () => void): void {
  let open = 2;
  const onClosed = (): void => {
    open -= 1;
    if (open === 0) act();
  };
  text.once('close', onClosed);
  finished(response, onClosed);
}

function outcomeOf(reason: unknown): ExportOutcome {
  if (reason === null) return 'sent';
  if (reason instanceof DeadlinePassed) return 'deadline';
  if (reason instanceof ReaderIdle) return 'idle';
  return reason instanceof ClientHungUp ? 'hung_up' : 'failed';
}
