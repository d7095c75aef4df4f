import { EVENT_FIELDS, type EventField } from './event-fields.ts';

/** A field whose value a packed log repeats by a control character. */
type PackedField = Extract<EventField, { readonly packedAs: number }>['name'];

/**
 * A packed log has a control character, of which JSON has none, instead of each value of these fields of its event, which the columns have.
 * The other fields save nothing: they have few values, or the compression finds their values in neighbouring logs.
 *
 * Only a value counts that JSON repeats as it is: without a backslash, a quote or a control character, and long enough. At each index of
 * the log, from the first on, the first of the fields whose value begins there is replaced, and the log goes on after that value. Unpacking
 * puts the values in again.
 */
export const PACKED_FIELDS: readonly PackedField[] = EVENT_FIELDS.filter((field) => 'packedAs' in field)
  .toSorted((left, right) => left.packedAs - right.packedAs)
  .map(({ name }) => name);

/** Bytes of the shortest value that is taken out. */
export const SHORTEST_PACKED_BYTES = 6;

/** The control character for the nth of the {@link PACKED_FIELDS}, from 0. */
export const markOf = (index: number) => String.fromCharCode(index + 1);
