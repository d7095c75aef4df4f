import { MINUTE_MS } from '../query/durations.ts';
import { type CountedEvent, fieldValue } from './alert-group.ts';
import type { RememberedValue } from './fold-state.ts';
import type { FoldParts } from './window-counts.ts';

/** About so many bytes a value takes beside its text. */
const VALUE_BYTES = 200;

/** The values of each zone that a rule knows, until nothing came of one for a while. */
export class ValueMemory {
  readonly #parts: FoldParts;
  readonly #lastMs = new Map<string, number>();
  #changed = new Set<string>();

  constructor(parts: FoldParts, remembered: readonly RememberedValue[]) {
    this.#parts = parts;
    for (const { group, lastMs } of remembered) this.#remember(group, lastMs);
    this.takeChanges();
  }

  get state(): readonly RememberedValue[] {
    return [...this.#lastMs].map(([group, lastMs]) => ({ group, lastMs }));
  }

  takeChanges(): { readonly remembered: readonly RememberedValue[]; readonly goneRemembered: readonly string[] } {
    const groups = [...this.#changed];
    this.#changed = new Set();
    return {
      remembered: groups.flatMap((group) => {
        const lastMs = this.#lastMs.get(group);
        return lastMs === undefined ? [] : [{ group, lastMs }];
      }),
      goneRemembered: groups.filter((group) => !this.#lastMs.has(group)),
    };
  }

  /** Counts an event of a zone and value. */
  count(event: CountedEvent, group: string): void {
    const { rule, facts, book, budget } = this.#parts;
    const { kind, maxGroups } = rule;
    if (kind.kind !== 'new_value' || fieldValue(event, kind.field) === undefined) return;
    if (this.#lastMs.has(group)) {
      this.#lastMs.set(group, facts.timeMs);
      this.#changed.add(group);
      return;
    }
    const hasRoom = this.#lastMs.size < maxGroups;
    if (hasRoom) budget.makeRoom(facts.timeMs);
    if (!hasRoom || budget.isFull) {
      // What has no room is unknown again when it comes later, and so are others.
      facts.bounded += 1;
      facts.hitsFromMs = facts.timeMs + kind.forMs;
      return;
    }
    this.#remember(group, facts.timeMs);
    if (facts.timeMs >= facts.hitsFromMs) book.hit(Math.floor(event.timestamp / MINUTE_MS) * MINUTE_MS, group, event.timestamp);
  }

  /** The time has come at which a value may be forgotten; false where events of it came since. */
  forget(atMs: number, group: string): boolean {
    const { kind } = this.#parts.rule;
    const lastMs = this.#lastMs.get(group);
    if (kind.kind !== 'new_value' || lastMs === undefined) return false;
    if (lastMs + kind.forMs > atMs) {
      this.#parts.dues.add({ atMs: lastMs + kind.forMs, kind: 'forget', windowMs: 0, group });
      return false;
    }
    this.#remove(group);
    return true;
  }

  /** Forgets all values, because the rule is gone. */
  end(): void {
    for (const group of this.#lastMs.keys()) this.#remove(group);
  }

  #remove(group: string): void {
    this.#lastMs.delete(group);
    this.#changed.add(group);
    this.#parts.budget.take(-1, -VALUE_BYTES - group.length);
  }

  #remember(group: string, lastMs: number): void {
    const { rule, dues, budget } = this.#parts;
    if (rule.kind.kind !== 'new_value') return;
    this.#lastMs.set(group, lastMs);
    this.#changed.add(group);
    dues.add({ atMs: lastMs + rule.kind.forMs, kind: 'forget', windowMs: 0, group });
    budget.take(1, VALUE_BYTES + group.length);
  }
}
