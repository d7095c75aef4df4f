import { markOf, PACKED_FIELDS, SHORTEST_PACKED_BYTES } from '../../../query/packed-log.ts';

/** The values of an event that its log may repeat, as texts. */
export type PackedTexts = Readonly<Record<string, unknown>>;

/** A packed log by the words of its definition, one index after the other: slow, and sharing no code with the intake. */
export function plainlyPacked(log: string, event: PackedTexts): string {
  const values = PACKED_FIELDS.map((name) => event[name]).map((value) => (typeof value === 'string' && counts(value) ? value : null));
  let packed = '';
  for (let at = 0; at < log.length; ) {
    const index = values.findIndex((value) => value !== null && log.startsWith(value, at));
    packed += index < 0 ? log[at] : markOf(index);
    at += values[index]?.length ?? 1;
  }
  return packed;
}

function counts(value: string): boolean {
  return JSON.stringify(value) === `"${value}"` && Buffer.byteLength(value) >= SHORTEST_PACKED_BYTES;
}

/** The log as it was; throws where there is a mark for a value that the event does not have. */
export function unpacked(log: string, event: PackedTexts): string {
  return PACKED_FIELDS.reduce(
    (text, name, index) =>
      text.replaceAll(markOf(index), () => {
        const value = event[name];
        if (typeof value !== 'string') {
          throw new Error(`the log has the mark of ${name}, which the event has not: ${log}`);
        }
        return value;
      }),
    log,
  );
}
