import type { GroupDimension } from '../../query/event-fields.ts';
import { type LineClause, type LineSearch, parseSearchLine, printable, searchLineOf } from '../../query/search-line.ts';
import type { Zones } from '../state/explorer-state.ts';
import { minutesText } from '../state/time-range.ts';

/** A rule of alerts of the kind `count`, as a person puts it together. */
export interface RuleDraft {
  readonly name: string;
  readonly zones: Zones;
  readonly search: LineSearch;
  readonly by: readonly GroupDimension[];
  readonly atLeast: number;
  /** The length of its windows. */
  readonly windowMinutes: number;
}

/** What a rule may be called. */
export const RULE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A name that the search suggests: its letters and digits. */
export function suggestedName({ query, filters, exclude }: LineSearch): string {
  const values = (clauses: readonly LineClause[]): string[] => clauses.flatMap(({ field, value }) => [field, ...value]);
  const words = [query, ...values(filters), ...(exclude.length === 0 ? [] : ['not', ...values(exclude)])].join(' ');
  const name = words.replaceAll(/[^A-Za-z0-9]+/g, '-').replace(/^-/, '');
  return name.slice(0, 40).replace(/-$/, '') || 'every-event';
}

/** The file of a rule, YAML that `shieldlog alerts check` takes. */
export function ruleText({ name, zones, search, by, atLeast, windowMinutes }: RuleDraft): string {
  const lines = [
    `name: ${quotedText(name)}`,
    `zones: ${zones === 'all' ? zones : listText(zones.map(String))}`,
    ...searchLines(search),
    ...(by.length === 0 ? [] : [`by: ${listText(by)}`]),
    ...['kind: count', `at_least: ${atLeast}`, `window: ${minutesText(windowMinutes)}`],
  ];
  return `${lines.join('\n')}\n`;
}

/** The search line, or where no line says the search its members. A rule without a search counts every event. */
function searchLines(search: LineSearch): readonly string[] {
  const { query, filters, exclude } = search;
  const line = searchLineOf(search);
  if (line === '') return [];
  if (line !== null && isReadAs(line, search)) return [`search: ${quotedText(line)}`];
  const clauses = (name: string, of: readonly LineClause[]): string[] => {
    const items = of.map(({ field, op, value }) => {
      return `    - { field: ${field}, op: ${op}, value: [${value.map(quotedText).join(', ')}] }`;
    });
    return items.length === 0 ? [] : [`  ${name}:`, ...items];
  };
  const terms = query === '' ? [] : [`  query: ${quotedText(query)}`];
  return ['search:', ...terms, ...clauses('filters', filters), ...clauses('exclude', exclude)];
}

/** A line may say another clause that finds the same, such as a whole value in place of a wildcard without a star. */
function isReadAs(line: string, { filters, exclude }: LineSearch): boolean {
  const read = parseSearchLine(line);
  return !('fault' in read) && JSON.stringify([read.filters, read.exclude]) === JSON.stringify([filters, exclude]);
}

function listText(items: readonly string[]): string {
  return items.length === 1 ? `${items[0]}` : `[${items.join(', ')}]`;
}

/** A text in quotes: in single ones, where nothing is an escape, if it can be. */
function quotedText(text: string): string {
  const hasOdd = printable(text) !== text || !text.isWellFormed();
  return hasOdd ? printable(JSON.stringify(text)) : `'${text.replaceAll("'", "''")}'`;
}
