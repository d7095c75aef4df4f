import { MINUTE_MS } from '../query/durations.ts';
import { type CountedEvent, fieldValue } from './alert-group.ts';
import type { Due } from './due-times.ts';
import type { FoldChanges, FoldParts, FoldRow, FoldState } from './fold-state.ts';
import type { RuleKind } from './rule.ts';

/** About so many bytes a value takes beside its text. */
const VALUE_BYTES = 200;

/** The values of each zone that a rule knows, until nothing came of one for a while. */
export class SeenValues {
  readonly #parts: FoldParts;
  readonly #kind: Extract<RuleKind, { readonly kind: 'new_value' }>;
  /** The intake time of the last event of each zone and value, as `groupKey` writes them. */
  readonly #lastMs = new Map<string, number>();
  readonly #changed = new Set<string>();

  constructor(parts: FoldParts, kind: Extract<RuleKind, { readonly kind: 'new_value' }>, { rows }: Pick<FoldState, 'rows'>) {
    this.#parts = parts;
    this.#kind = kind;
    for (const { group, data } of rows) this.#remember(group, data as number);
    this.#changed.clear();
  }

  /** Has the next changes be all that is kept. */
  markAll(): void {
    this.#changed.clear();
    for (const group of this.#lastMs.keys()) this.#changed.add(group);
  }

  takeChanges(): Pick<FoldChanges, 'rows' | 'gone' | 'closed'> {
    const rows = [...this.#changed].map((group): FoldRow => ({ windowMs: 0, group, value: '', data: this.#lastMs.get(group) }));
    this.#changed.clear();
    const isKept = ({ data }: FoldRow) => data !== undefined;
    return { rows: rows.filter(isKept), gone: rows.filter((row) => !isKept(row)), closed: null };
  }

  /** Counts an event of a zone and value. */
  count(event: CountedEvent, group: string): void {
    const { rule, facts, book, budget } = this.#parts;
    if (fieldValue(event, this.#kind.field) === undefined) return;
    if (this.#lastMs.has(group)) {
      this.#lastMs.set(group, facts.timeMs);
      this.#changed.add(group);
      return;
    }
    const hasRoom = this.#lastMs.size < rule.maxGroups;
    if (hasRoom) budget.makeRoom(facts.timeMs);
    if (!hasRoom || budget.isFull) {
      // What has no room is unknown again when it comes later, and so are others.
      facts.bounded += 1;
      facts.hitsFromMs = facts.timeMs + this.#kind.forMs;
      return;
    }
    this.#remember(group, facts.timeMs);
    if (facts.timeMs >= facts.hitsFromMs) book.hit(Math.floor(event.timestamp / MINUTE_MS) * MINUTE_MS, group, event.timestamp);
  }

  /** The time has come at which a value may be forgotten. Returns whether it is, which it is not where events of it came since. */
  workOff({ atMs, group }: Due): boolean {
    const untilMs = (this.#lastMs.get(group) ?? 0) + this.#kind.forMs;
    if (untilMs > atMs) {
      this.#parts.dues.add({ atMs: untilMs, kind: 'forget', windowMs: 0, group });
      return false;
    }
    this.#lastMs.delete(group);
    this.#changed.add(group);
    this.#parts.budget.take(-1, -VALUE_BYTES - group.length);
    return true;
  }

  #remember(group: string, lastMs: number): void {
    const { dues, budget } = this.#parts;
    this.#lastMs.set(group, lastMs);
    this.#changed.add(group);
    dues.add({ atMs: lastMs + this.#kind.forMs, kind: 'forget', windowMs: 0, group });
    budget.take(1, VALUE_BYTES + group.length);
  }
}
