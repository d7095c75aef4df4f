import type { ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { EventRow } from '../../query/search-result.ts';
import { DeadlinePassed } from '../http/deadline.ts';
import { ClientHungUp, hangUpSignal } from '../http/hang-up.ts';
import type { ExportFormat } from './export-format.ts';
import type { ExportOutcome } from './export-metrics.ts';
import { exportText } from './export-text.ts';
import { ReaderIdle, watchReader } from './idle-reader.ts';

export interface ExportOrder {
  readonly format: ExportFormat;
  /** Reads all rows until the signal aborts. */
  readonly read: (signal: AbortSignal) => AsyncIterable<readonly EventRow[]>;
  readonly response: ServerResponse;
  /** How long all of it may take, and how long the client may take no byte. */
  readonly deadlineMs: number;
  readonly idleMs: number;
  readonly onRows: (count: number) => void;
  /** Called once, when everything that the export held is free. The reason is why it ended early, or null. */
  readonly onEnd: (outcome: ExportOutcome, reason: unknown) => void;
}

/**
 * Begins an export; resolves with its text once the first rows are there, and rejects where they cannot be read. Whatever goes wrong later
 * breaks the connection off: the client must not take what it has for everything.
 */
export async function beginExport(order: ExportOrder): Promise<Readable> {
  const { format, read, response, deadlineMs, idleMs, onRows, onEnd } = order;
  const stop = new AbortController();
  const { signal } = stop;
  const cut = (reason: unknown): void => {
    stop.abort(reason);
    // A reset, because without chunks (HTTP/1.0) the end of the connection is the end of the answer. Before the headers there is an answer
    // to be given.
    if (response.headersSent) response.socket?.resetAndDestroy();
  };
  // Not AbortSignal.any: where both have aborted, it may give the reason of either, and cutting off is also a hanging up.
  const hungUp = hangUpSignal(response);
  hungUp.addEventListener('abort', () => stop.abort(hungUp.reason), { once: true });
  if (hungUp.aborted) stop.abort(hungUp.reason);
  const timer = setTimeout(() => cut(new DeadlinePassed(deadlineMs)), deadlineMs);
  const end = (error: unknown): void => {
    clearTimeout(timer);
    const reason = signal.aborted ? signal.reason : error;
    onEnd(outcomeOf(reason), reason);
  };
  const rows = read(signal)[Symbol.asyncIterator]();
  try {
    const first = await rows.next();
    const text = Readable.from(exportText(format, first, rows, onRows), { objectMode: false });
    watchReader(response, idleMs, cut);
    text.once('error', cut);
    whenBothClosed(text, response, () => end(null));
    return text;
  } catch (error) {
    end(error);
    throw error;
  }
}

/** The text is closed when what it was read from is free, the response when the client has all, or is gone. */
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
