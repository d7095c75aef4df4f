import { csvCell } from '../../query/csv-cell.ts';
import type { GroupDimension } from '../../query/event-fields.ts';
import type { EventGroup, Facet } from '../../query/plan/search-result.ts';
import type { Window } from '../api/explore.ts';

/** Groups and facets of an answer as files. Events come from the export route, which writes its own. */

export type FileFormat = 'csv' | 'ndjson';

function csvRecord(cells: readonly (string | number | null)[]): string {
  return `${cells.map((cell) => csvCell(cell === null ? undefined : String(cell))).join(',')}\r\n`;
}

/**
 * The groups as the table shows them, with the dimensions in its order. The most frequent country and AS number have `top` before their
 * names in CSV, because both may be dimensions, too. NDJSON has the groups as they were answered.
 */
export function groupsFile(groups: readonly EventGroup[], dimensions: readonly GroupDimension[], format: FileFormat): string {
  if (format === 'ndjson') return groups.map((group) => `${JSON.stringify(group)}\n`).join('');
  const header = [...dimensions, 'count', 'firstSeen', 'lastSeen', 'blocked', 'challenged', 'logged', 'topCountry', 'topAsn'];
  const lines = groups.map(({ key, count, firstSeen, lastSeen, context, sparkline }) =>
    csvRecord([
      ...dimensions.map((dimension) => key[dimension] ?? ''),
      count,
      new Date(firstSeen).toISOString(),
      new Date(lastSeen).toISOString(),
      context.blocked,
      context.challenged,
      context.logged,
      context.country,
      context.asn,
      context.features,
      context.ruleIds,
      sparkline === undefined ? null : sparkline.join(' '),
    ]),
  );
  return csvRecord([...header, 'features', 'ruleIds', 'sparkline']) + lines.join('');
}

/** The values of all facets, one a line. */
export function facetsFile(facets: readonly Pick<Facet, 'field' | 'values'>[], format: FileFormat): string {
  const values = facets.flatMap(({ field, values }) => values.map(({ value, count, selected }) => ({ field, value, count, selected })));
  if (format === 'ndjson') return values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const lines = values.map(({ field, value, count, selected }) => csvRecord([field, value, count, selected]));
  return csvRecord(['field', 'value', 'count', 'selected']) + lines.join('');
}

/** Names a file about a question: `shieldlog-groups-zone-1,7-20260101T000000Z-20260102T000000Z.csv`. Some file systems allow no colon. */
export function fileName(
  what: string,
  { zones, body: { from, to } }: { readonly zones: string; readonly body: Window },
  format: FileFormat,
): string {
  const basic = (timeMs: number): string => `${new Date(timeMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  return `shieldlog-${what}-zone-${zones}-${basic(from)}-${basic(to)}.${format}`;
}
