import type { DuckDBDataChunk } from '@duckdb/node-api';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import type { TimeWindow } from '../../../query/plan/search-plan.ts';
import type { EventRow, RowPiece } from '../../../query/plan/search-result.ts';
import { type RowKey, type RowSlice, rowsStatement } from '../../../sql/row-statements.ts';
import { PIECE_BYTES } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import { unpackLog } from '../blob/unpacked-log.ts';
import { isOutOfMemory } from '../duckdb/statement-runner.ts';
import { readLogs } from './log-reader.ts';
import type { SearchScope } from './search-scope.ts';

/** The most characters of the rows alone, so that there is room for their logs. */
const TEXT_CHARACTERS = PIECE_BYTES / 2;

/** So many times fewer rows are tried where all are too many. */
const FEWER = 8;

/**
 * Rows as they were read: their JSON texts (see `rowsStatement`), and their packed logs. These take less memory, and less of the garbage
 * collector's time, than objects with twelve fields. A log is unpacked when its row is asked for.
 */
export class ReadRows implements RowPiece {
  readonly #texts: readonly string[];
  readonly #logs: readonly Buffer[];
  readonly bytes: number;
  readonly isLast: boolean;

  constructor(texts: readonly string[], logs: readonly Buffer[], isLast: boolean) {
    this.isLast = isLast;
    this.#texts = texts;
    this.#logs = logs;
    this.bytes = [...texts, ...logs].reduce((sum, { length }) => sum + length, 0);
  }

  get length(): number {
    return this.#texts.length;
  }

  /** The rank of the last row. */
  get lastKey(): RowKey {
    const [timestamp, logId, zoneId] = JSON.parse(this.#texts.at(-1) ?? '[]') as string[];
    return { timestamp: Number(timestamp), logId: logId as string, zoneId: Number(zoneId) };
  }

  *[Symbol.iterator](): Iterator<EventRow> {
    for (const [index, text] of this.#texts.entries()) {
      yield eventRow(text, this.#logs[index] as Buffer);
    }
  }
}

function eventRow(rowText: string, packedLog: Buffer): EventRow {
  const [timestamp, logId, zoneId, ...texts] = JSON.parse(rowText) as (string | null)[];
  const fields: Record<string, string> = {};
  for (const [field, name] of TEXT_FIELDS.entries()) {
    const text = texts[field];
    if (typeof text === 'string') {
      fields[name] = text;
    }
  }
  return { zoneId: Number(zoneId), logId: logId as string, timestamp: Number(timestamp), log: unpackLog(packedLog, fields), fields };
}

/** The first rows of a slice as they were read, as many as make a piece. */
interface FirstRows {
  readonly texts: readonly string[];
  readonly logs: readonly Buffer[];
  /** Whether the slice has more. */
  readonly isCut: boolean;
}

/** Reads the first rows of a slice; undefined where DuckDB has no memory for so many. */
async function readFirstRows(scope: SearchScope, window: TimeWindow, slice: RowSlice): Promise<FirstRows | undefined> {
  const read = await readTexts(scope, window, slice);
  if (read === undefined) {
    return undefined;
  }
  const { texts, characters, blobPointers } = read;
  const maxBytes = PIECE_BYTES - Math.min(characters, TEXT_CHARACTERS);
  for (let rows = texts.length; ; rows = Math.ceil(rows / FEWER)) {
    const logs = await readLogs(scope.source, blobPointers.slice(0, rows), rows <= 1 ? Number.POSITIVE_INFINITY : maxBytes);
    if (logs !== undefined) {
      return { texts: texts.slice(0, rows), logs, isCut: read.isCut || rows < texts.length };
    }
  }
}

/**
 * Reads rows as their texts and blob pointers. They are taken one by one, so that no more than one beyond the limit is in the memory of
 * Node; how many rows DuckDB has ready depends on its own limit.
 */
async function readTexts(scope: SearchScope, window: TimeWindow, slice: RowSlice) {
  const texts: string[] = [];
  const blobPointers: bigint[] = [];
  let characters = 0;
  const take = (chunk: DuckDBDataChunk): boolean => {
    const [textVector, pointerVector] = [chunk.getColumnVector(0), chunk.getColumnVector(1)];
    const { rowCount } = chunk;
    for (let row = 0; row < rowCount; row += 1) {
      const text = textVector.getItem(row) as string;
      if (texts.length > 0 && characters + text.length > TEXT_CHARACTERS) {
        return false;
      }
      characters += text.length;
      texts.push(text);
      blobPointers.push(pointerVector.getItem(row) as bigint);
    }
    return true;
  };
  try {
    const isWhole = await scope.runner.stream(rowsStatement(scope.plan, scope.events(window), window, slice), take);
    return { texts, characters, blobPointers, isCut: !isWhole };
  } catch (error) {
    if (isOutOfMemory(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Counted rows of a window, which are read piece by piece: newest first, then by `logId`, then by zone. */
export class RowCursor {
  readonly #window: TimeWindow;
  #skip: number;
  #left: number;
  /** The last row that was read. */
  #after: RowKey | undefined;

  /** The `rows` rows behind the first `skip` of the window. */
  constructor(window: TimeWindow, skip: number, rows: number) {
    this.#window = window;
    this.#skip = skip;
    this.#left = rows;
  }

  /** The number of the rows still to come. */
  get left(): number {
    return this.#left;
  }

  /**
   * Reads the next rows, at most `maxRows` of them; `isLastWindow`: none follow behind those of the window. Rejects with `StoreError` where
   * there are not as many as were counted.
   */
  async next(scope: SearchScope, maxRows: number, isLastWindow: boolean): Promise<ReadRows> {
    for (let limit = Math.min(maxRows, this.#left); ; limit = Math.ceil(limit / FEWER)) {
      const read = await readFirstRows(scope, this.#window, { after: this.#after, skip: this.#skip, limit });
      if (read !== undefined) {
        const { texts, logs, isCut } = read;
        if (texts.length < limit && !isCut) {
          throw new StoreError('corrupt', `of ${this.#left} events that were counted, ${texts.length} of the first ${limit} were found`);
        }
        this.#left -= texts.length;
        const piece = new ReadRows(texts, logs, isLastWindow && this.#left === 0);
        this.#skip = 0;
        this.#after = piece.lastKey;
        return piece;
      }
      if (limit === 1) {
        throw new StoreError('overloaded', 'there is not enough memory for a single event; try again later');
      }
    }
  }
}

export interface RowPiecesOptions {
  /** The piece that comes first, and is there already. */
  readonly first?: RowPiece | undefined;
  /** Reads the next piece, until the signal aborts; undefined where there are no more. */
  readonly read: (signal: AbortSignal) => Promise<RowPiece | undefined>;
  /** Aborts when the caller or the store ends the reading. */
  readonly ended: AbortSignal;
  /** What the pieces are read from. It is given back after the last piece, `return` or the end of the signal, whatever comes first. */
  readonly held: Disposable;
}

/**
 * Pieces of rows, each read when it is asked for: while a caller is slow, nothing is kept but `held`. A generator alone would not give that
 * back where it was never asked for a piece.
 */
export class RowPieces implements AsyncIterableIterator<RowPiece> {
  readonly #options: RowPiecesOptions;
  readonly #pieces: AsyncGenerator<RowPiece, undefined>;
  readonly #abandoned = new AbortController();
  #given: Promise<void> | undefined;
  readonly #end = (): Promise<void> => {
    this.#given ??= this.#giveBack();
    return this.#given;
  };

  constructor(options: RowPiecesOptions) {
    this.#options = options;
    this.#pieces = piecesOf(options, AbortSignal.any([options.ended, this.#abandoned.signal]));
    options.ended.addEventListener('abort', this.#end, { once: true });
    // A caller that has gone by now asks for no piece, so nothing else would give the parts back.
    if (options.ended.aborted) {
      void this.#end();
    }
  }

  /** Rejects with the signal's reason once that has aborted. Calls must not overlap. */
  async next(): Promise<IteratorResult<RowPiece, undefined>> {
    const { ended } = this.#options;
    let piece: IteratorResult<RowPiece, undefined> | undefined;
    try {
      ended.throwIfAborted();
      piece = await this.#pieces.next();
      return piece;
    } finally {
      if (piece?.done !== false) {
        await this.#end();
      }
    }
  }

  async return(): Promise<IteratorResult<RowPiece, undefined>> {
    await this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Gives back what the pieces are read from, once a read that is under way has ended. */
  async #giveBack(): Promise<void> {
    const { ended, held } = this.#options;
    ended.removeEventListener('abort', this.#end);
    this.#abandoned.abort();
    await this.#pieces.return(undefined);
    held[Symbol.dispose]();
  }
}

async function* piecesOf({ first, read }: RowPiecesOptions, signal: AbortSignal): AsyncGenerator<RowPiece, undefined> {
  for (let piece = first ?? (await read(signal)); piece !== undefined; piece = piece.isLast ? undefined : await read(signal)) {
    yield piece;
  }
}
