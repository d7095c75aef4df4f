import type { TextField } from './event-fields.ts';

/**
 * A packed log has a control character wherever it repeats one of these fields of its event, which are stored beside it anyway. JSON has
 * none of its own. The others are not worth it: they have few values, or the compression finds their values in the logs around.
 *
 * Only a value that stands in JSON as it is counts: without a backslash or a quote, without control characters, and long enough. At each
 * place of the log, from the first on, the first of the fields is taken whose value stands there; the log goes on behind it. Whoever
 * unpacks a log puts the values in again, and needs to know neither.
 */
export const PACKED_FIELDS = ['url', 'ip', 'ruleName', 'ruleId'] as const satisfies readonly TextField[];

/** Bytes of the shortest value that is taken out. */
export const SHORTEST_PACKED_BYTES = 6;

/** Stands for the nth of the {@link PACKED_FIELDS}, from 0. */
export const markOf = (index: number) => String.fromCharCode(index + 1);
