import { members } from './event-members';
import { BACKSLASH } from './json-bytes';

/** A shorter value is left in the log; this is `SHORTEST_PACKED_BYTES`. */
const SHORTEST: usize = 6;

/** A byte that stands in no log. */
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
  length: usize = 1;

  /** Takes the field's value from `members`; one that is not there or does not count as NUL, which stands nowhere. */
  read(field: u32): void {
    const start = members.valueStart(field);
    const length = members.valueEnd(field) - start;
    const counts = members.has(field) && length >= SHORTEST && !hasEscape(start, length);
    this.start = counts ? start : NOWHERE;
    this.length = counts ? length : 1;
  }

  /** Sixteen times its first byte. */
  @inline
  get first(): v128 {
    return v128.load8_splat(this.start);
  }

  /** Sixteen times its last byte. */
  @inline
  get last(): v128 {
    return v128.load8_splat(this.start + this.length - 1);
  }

  /** Whether the value is what stands from `at` on, before `end`. */
  standsAt(at: usize, end: usize): bool {
    if (at + this.length > end) {
      return false;
    }
    for (let offset: usize = 0; offset < this.length; offset += 16) {
      const differing = i8x16.bitmask(i8x16.ne(v128.load(at + offset), v128.load(this.start + offset)));
      if (differing !== 0 && offset + <usize>ctz(differing) < this.length) {
        effort -= <i32>offset;
        return false;
      }
    }
    return true;
  }
}

function hasEscape(start: usize, length: usize): bool {
  const backslash = i8x16.splat(<i8>BACKSLASH);
  for (let offset: usize = 0; offset < length; offset += 16) {
    const escapes = i8x16.bitmask(i8x16.eq(v128.load(start + offset), backslash));
    if (escapes !== 0 && offset + <usize>ctz(escapes) < length) {
      return true;
    }
  }
  return false;
}
