import type { SearchPlan, TimeWindow } from '../../../query/plan/search-plan.ts';
import type { RowKey } from '../../../sql/row-statements.ts';
import { StoreError } from '../../event-store.ts';
import type { CountedRange } from '../search/page-location.ts';
import { countBySlot } from '../search/page-location.ts';
import { type ScopeSource, SearchScope } from '../search/search-scope.ts';
import { type Piece, readPiece, rowOf } from './export-piece.ts';

/** The most rows of a piece. They keep a core busy for some tens of milliseconds. */
const MAX_ROWS = 4_096;

/** The first piece is small, because a client waits for it, and the size of the events is not known yet. */
const FIRST_ROWS = 1_024;

/** The most characters of the rows of a piece, and of their logs. A single row may have more. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Reads the matching events of a snapshot piece by piece: each call of `next` reads the following one. */
export class ExportCursor {
  readonly #plan: SearchPlan;
  readonly #source: Pick<ScopeSource, 'snapshot' | 'aliases'>;
  /** The disjoint ranges still to come. The newest, which comes next, is the last. Undefined: not counted yet. */
  #ahead: CountedRange[] | undefined;
  /** The window that is being read, the number of its rows still to come, and the last row that was read. */
  #window: TimeWindow = { fromMs: 0, toMs: 0 };
  #left = 0;
  #after: RowKey | undefined;
  #rows = FIRST_ROWS;

  constructor(plan: SearchPlan, source: Pick<ScopeSource, 'snapshot' | 'aliases'>) {
    this.#plan = plan;
    this.#source = source;
  }

  /** Reads the next rows, newest first, then by `logId`; undefined where there are none. Calls must not overlap. */
  async next(reading: Omit<ScopeSource, 'snapshot' | 'aliases'>): Promise<Piece | undefined> {
    const isFirst = this.#ahead === undefined;
    try {
      const scope = await SearchScope.open(this.#plan, { ...this.#source, ...reading });
      if (this.#left === 0 && !(await this.#nextWindow(scope))) {
        return undefined;
      }
      return await this.#readPiece(scope);
    } catch (error) {
      // The next call may find fewer segments whole.
      if (isFirst) {
        this.#ahead = undefined;
        this.#left = 0;
      }
      throw error;
    }
  }

  /** Takes as many of the newest ranges as make a piece. A range with more rows is divided first, down to a millisecond. */
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

  async #readPiece(scope: SearchScope): Promise<Piece> {
    for (;;) {
      const limit = Math.min(this.#rows, this.#left);
      const maxCharacters = limit === 1 ? Number.POSITIVE_INFINITY : MAX_CHARACTERS;
      const piece = await readPiece(scope, { window: this.#window, after: this.#after, limit, maxCharacters });
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
    const { timestamp, logId, zoneId } = rowOf(piece, length - 1);
    this.#after = { timestamp, logId, zoneId };
    // Half of the rows that would just fit, because the next events may be larger.
    const fitting = Math.floor((MAX_CHARACTERS * length) / (2 * charactersIn(piece)));
    this.#rows = Math.max(1, Math.min(MAX_ROWS, this.#rows * 2, fitting));
  }
}

function charactersIn({ rows, logs }: Piece): number {
  return [...rows, ...logs].reduce((sum, { length }) => sum + length, 0);
}

function isDivisible({ fromMs, toMs, events }: CountedRange): boolean {
  return events > MAX_ROWS && toMs - fromMs > 1;
}

/** The ranges of the window that have events, the newest last. */
async function countInOrder(scope: SearchScope, window: TimeWindow): Promise<CountedRange[]> {
  return (await countBySlot(scope, window)).sort((a, b) => a.fromMs - b.fromMs);
}
