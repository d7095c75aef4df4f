/** A longer event is left to the slower path. */
export const LONGEST_EVENT: usize = 256 * 1024;

/** So many bytes are looked at together. */
export const BLOCK: usize = 64;

/** Where the bytes of an event are expected. A block may reach past their end. */
export const input: usize = heap.alloc(LONGEST_EVENT + BLOCK);

/** Where its line is written, which is longer by the two halves of an address, and in steps of 16 bytes. */
export const output: usize = heap.alloc(LONGEST_EVENT + 2 * BLOCK);

/** Where its log is written. */
export const logOutput: usize = heap.alloc(LONGEST_EVENT + 2 * BLOCK);
