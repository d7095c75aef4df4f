import { members } from './event-members';
import { BACKSLASH } from './json-bytes';

/** A shorter value is left in the log; this is `SHORTEST_PACKED_BYTES`. */
export const SHORTEST: usize = 6;

/** NULs, which stand in no log. */
const NOWHERE: usize = memory.data(16, 16);

/** How many bytes may still be compared in vain in this log. */
let effort: i32 = 0;

/** To be called before a log of so many bytes is packed. */
export function allowEffort(logBytes: usize): void {
  effort = 16 * <i32>logBytes;
}

/**
 * True where values and log repeat themselves so much that finding one in the other would take the square of their length. Then the scanner has the event,
 * which has another way to search.
 */
export function isTooMuchEffort(): bool {
  return effort < 0;
}

/** A value that a log may repeat. */
@final
export class PackedValue {
  start: usize = NOWHERE;
  length: usize = SHORTEST;

  /** Takes over the field's value from `members`; where there is none, or a shorter one, something that stands in no log. */
  read(field: u32): void {
    const start = members.valueStart(field);
    const length = members.valueEnd(field) - start;
    const counts = members.has(field) && length >= SHORTEST;
    this.start = counts ? start : NOWHERE;
    this.length = counts ? length : SHORTEST;
  }

  /** Sixteen times the first byte. */
  @inline
  get first(): v128 {
    return v128.load8_splat(this.start);
  }

  /** Sixteen times the last of the bytes that every value has. */
  @inline
  get sixth(): v128 {
    return v128.load8_splat(this.start + SHORTEST - 1);
  }

  /** Whether the value is what stands from `at` on, before `end`. One with escapes stands nowhere: its backslashes are taken to differ. */
  standsAt(at: usize, end: usize): bool {
    if (at + this.length > end) {
      return false;
    }
    const backslash = i8x16.splat(<i8>BACKSLASH);
    for (let offset: usize = 0; offset < this.length; offset += 16) {
      const here = v128.load(this.start + offset);
      const differing = i8x16.bitmask(v128.or(i8x16.ne(v128.load(at + offset), here), i8x16.eq(here, backslash)));
      if (differing !== 0 && offset + <usize>ctz(differing) < this.length) {
        effort -= <i32>offset;
        return false;
      }
    }
    return true;
  }
}
