import type { GroupDimension } from '../../../query/event-fields.ts';
import type { ZoneSelection } from '../../../query/plan/search-plan.ts';

const MAX_REMEMBERED = 1_000;
/** Longer lists of zones are told apart by their first ones alone. */
const NAMED_ZONES = 8;

/** Remembers which groupings of which zones had many groups. It says how a page is best read, and not what is on it. */
export class Groupings {
  readonly #withMany = new Set<string>();

  hadMany(zones: ZoneSelection, by: readonly GroupDimension[]): boolean {
    return this.#withMany.has(nameOf(zones, by));
  }

  noteMany(zones: ZoneSelection, by: readonly GroupDimension[]): void {
    if (this.#withMany.size === MAX_REMEMBERED) {
      // What is forgotten is found out again.
      this.#withMany.clear();
    }
    this.#withMany.add(nameOf(zones, by));
  }
}

function nameOf(zones: ZoneSelection, by: readonly GroupDimension[]): string {
  return `${zones === 'all' ? zones : zones.slice(0, NAMED_ZONES).join()} ${by.join()}`;
}
