/** A longer event is left to the slower path. */
export const LONGEST_EVENT: usize = 64 * 1024;
/** So is one for which an id of more bytes was worked out. */
export const LONGEST_GIVEN_ID: usize = 1024;

/** So many bytes are looked at together. */
export const BLOCK: usize = 64;

/** Where the bytes of an event are expected. A block may reach past their end. */
export const input: usize = heap.alloc(LONGEST_EVENT + BLOCK);

/** Where the id of an event that has none is expected. */
export const givenId: usize = heap.alloc(LONGEST_GIVEN_ID);
