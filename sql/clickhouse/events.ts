import { int32, int64, joinSql, type SqlFragment, sql, trusted } from '../statement.ts';

/** What a read of several statements sees of the events: those with a lower sequence whose insert was not under way. */
export interface Moment {
  readonly beforeSeq: bigint;
  /** The inserts under way: each has a process of its own, and sequences from the one on that its start gave. */
  readonly running: readonly { readonly fromSeq: bigint; readonly writer: number }[];
}

/** The lower bits of a sequence, which tell the processes apart that write events. */
export const WRITER_BITS = 12;

const WRITER = trusted(`bitAnd("seq", ${2 ** WRITER_BITS - 1})`);

/**
 * The events of a table, each once: of its copies the one with the lowest sequence. What does not belong to the moment is left out before
 * copies are compared. A WHERE has to follow.
 */
export function eventsOf(table: string, moment?: Moment): SqlFragment {
  const events = trusted(`"${table}" FINAL`);
  if (moment === undefined) {
    return events;
  }
  const { beforeSeq, running } = moment;
  const others = running.map(({ fromSeq, writer }) => sql`NOT ("seq" >= ${int64(fromSeq)} AND ${WRITER} = ${int32(writer)})`);
  return sql`${events} PREWHERE ${joinSql([sql`"seq" < ${int64(beforeSeq)}`, ...others], ' AND ')}`;
}
