import type { DuckDBConnection } from '@duckdb/node-api';
import type { SearchPlan, TimeWindow } from '../../../query/search-plan.ts';
import type { RowKey } from '../../../sql/export-statements.ts';
import { StoreError } from '../../store-error.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { CountedRange } from '../search/page-location.ts';
import { SearchScope } from '../search/search-scope.ts';
import { countBySlot } from '../search/slot-counts.ts';
import type { Snapshot } from '../snapshot/version-set.ts';
import { type Piece, type PieceReader, readPiece, rowOf } from './export-piece.ts';

/** A piece has no more rows than this, which keep a processor busy for some tens of milliseconds. */
const MAX_ROWS = 4_096;

/** The first piece is small, because somebody waits for it, and nothing is known yet of how large the events are. */
const FIRST_ROWS = 1_024;

/** The rows of a piece have no more characters than this, and neither have their logs; a single row may. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Where an export has come to in the matching events of a snapshot: each call of `next` reads the following piece of them. */
export class ExportCursor {
  readonly #plan: SearchPlan;
  readonly #snapshot: Snapshot;
  readonly #aliases: PathAliases;
  /** Disjoint; the newest, which comes next, is the last. Undefined: not counted yet. */
  #ahead: CountedRange[] | undefined;
  /** The window that is being read, how many rows of it are still to come, and behind which. */
  #window: TimeWindow = { fromMs: 0, toMs: 0 };
  #left = 0;
  #after: RowKey | undefined;
  #rows = FIRST_ROWS;

  constructor(plan: SearchPlan, snapshot: Snapshot, aliases: PathAliases) {
    this.#plan = plan;
    this.#snapshot = snapshot;
    this.#aliases = aliases;
  }

  /** The next rows, newest first, then by `logId`; undefined: that was all. To be called again only when the call before has ended. */
  async next(connection: DuckDBConnection, signal: AbortSignal): Promise<Piece | undefined> {
    const scope = new SearchScope(this.#plan, this.#snapshot, this.#aliases, connection, signal);
    if (this.#left === 0 && !(await this.#nextWindow(scope))) {
      return undefined;
    }
    return await this.#readPiece({ scope, connection, signal });
  }

  /** Takes as many of the newest ranges as make a piece. One that holds more is divided first, as far as time can be. */
  async #nextWindow(scope: SearchScope): Promise<boolean> {
    this.#ahead ??= await countInOrder(scope, this.#plan.window);
    const ahead = this.#ahead;
    for (let newest = ahead.at(-1); newest !== undefined && isDivisible(newest); newest = ahead.at(-1)) {
      ahead.pop();
      ahead.push(...(await countInOrder(scope, newest)));
    }
    const newest = ahead.pop();
    if (newest === undefined) {
      return false;
    }
    let { fromMs, events } = newest;
    for (let older = ahead.at(-1); older !== undefined && events + older.events <= MAX_ROWS; older = ahead.at(-1)) {
      ahead.pop();
      fromMs = older.fromMs;
      events += older.events;
    }
    this.#window = { fromMs, toMs: newest.toMs };
    this.#left = events;
    this.#after = undefined;
    return true;
  }

  async #readPiece(reader: PieceReader): Promise<Piece> {
    for (;;) {
      const limit = Math.min(this.#rows, this.#left);
      const maxCharacters = limit === 1 ? Number.POSITIVE_INFINITY : MAX_CHARACTERS;
      const piece = await readPiece(reader, { window: this.#window, after: this.#after, limit, maxCharacters });
      if (piece !== undefined) {
        this.#moveBehind(piece, limit);
        return piece;
      }
      if (limit === 1) {
        throw new StoreError('overloaded', 'there is not enough memory for a single event; try again later');
      }
      this.#rows = Math.ceil(limit / 8);
    }
  }

  #moveBehind(piece: Piece, limit: number): void {
    const { length } = piece.rows;
    if (length !== limit) {
      throw new StoreError('corrupt', `of ${this.#left} events that were counted, ${length} of the first ${limit} were found`);
    }
    this.#left -= length;
    const { timestamp, logId } = rowOf(piece, length - 1);
    this.#after = { timestamp, logId };
    // Half of what would just fit: the next events may be larger.
    const fitting = Math.floor((MAX_CHARACTERS * length) / (2 * charactersIn(piece)));
    this.#rows = Math.max(1, Math.min(MAX_ROWS, this.#rows * 2, fitting));
  }
}

function charactersIn({ rows, logs }: Piece): number {
  return [...rows, ...logs].reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

function isDivisible({ fromMs, toMs, events }: CountedRange): boolean {
  return events > MAX_ROWS && toMs - fromMs > 1;
}

/** The parts of the window that have events, the newest last. */
async function countInOrder(scope: SearchScope, window: TimeWindow): Promise<CountedRange[]> {
  return (await countBySlot(scope, window)).sort((a, b) => a.fromMs - b.fromMs);
}
