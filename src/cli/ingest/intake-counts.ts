import type { IntakeCounts, IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { printable } from '../../../query/search-line.ts';
import type { CommandIo } from '../command.ts';

/** A terminal shows at most so many rejected events, fewer than the answer of the program lists. */
export const MAX_SHOWN_REJECTED = 20;

export const NO_EVENTS: IntakeCounts = { accepted: 0, duplicates: 0, expired: 0, repaired: 0, rejectedCount: 0 };

export function addedCounts(one: IntakeCounts, other: IntakeCounts): IntakeCounts {
  return {
    accepted: one.accepted + other.accepted,
    duplicates: one.duplicates === null || other.duplicates === null ? null : one.duplicates + other.duplicates,
    expired: one.expired + other.expired,
    repaired: one.repaired + other.repaired,
    rejectedCount: one.rejectedCount + other.rejectedCount,
    ...(one.leftOut === undefined && other.leftOut === undefined ? {} : { leftOut: (one.leftOut ?? 0) + (other.leftOut ?? 0) }),
  };
}

/** Names the rejected events, or records, of an upload by their lines in the input `name`, of which `linesBefore` came before. */
export function tellRejected(
  name: string,
  { rejected, rejectedCount, leftOut }: IntakeReport,
  stderr: Pick<CommandIo['stderr'], 'write'>,
  linesBefore = 0,
): void {
  for (const { line, reason } of rejected.slice(0, MAX_SHOWN_REJECTED)) {
    stderr.write(`${printable(name)}, line ${linesBefore + line}: rejected: ${printable(reason)}\n`);
  }
  const unlisted = rejectedCount - Math.min(rejected.length, MAX_SHOWN_REJECTED);
  if (unlisted > 0) stderr.write(`and ${unlisted} more\n`);
  const lost = rejected.filter(({ kept }) => kept === false).length;
  // Only what a mapping makes of records may be left out.
  const what = leftOut === undefined ? 'events' : 'records';
  if (rejectedCount > lost) stderr.write(`Rejected ${what} are kept as dead letters: GET /ingest/dead-letters\n`);
  if (lost > 0) stderr.write(`${lost} of them are not kept, because the dead letters use up DEAD_LETTER_MAX_MB\n`);
}
