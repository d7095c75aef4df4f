import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import type { GroupContext } from '../../query/plan/search-result.ts';

/** The time of every golden request: 27.8 h after the first of the fixed events. */
export const GOLDEN_NOW = 1_790_000_000_000;

/** The window of a request that does not say: all the fixed events. */
const WHOLE_WINDOW = { from: 1_789_900_000_000, to: GOLDEN_NOW };

export interface ExpectedGroup {
  readonly key: readonly string[];
  readonly count: number;
  /** First and last event time. */
  readonly seen?: readonly [number, number];
  readonly context?: GroupContext;
  /** Null: the group must have none. */
  readonly sparkline?: readonly number[] | null;
}

/** One request and the answer that it must have, worked out by hand from events.ndjson. Exactly one of rows, groups and errors is there. */
export interface GoldenCase {
  readonly name: string;
  readonly zone: number;
  /** The body, with the whole window where the case names none. */
  readonly request: object;
  readonly rows?: readonly string[];
  readonly groups?: readonly ExpectedGroup[];
  readonly errors?: Readonly<Record<string, string>>;
  readonly total: number;
  /** The fields and the log's text of some of the rows. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly logs: Readonly<Record<string, string>>;
}

export interface GoldenTheme {
  readonly theme: string;
  readonly cases: readonly GoldenCase[];
}

interface WrittenCase {
  readonly name: string;
  readonly zone?: number;
  readonly request: object;
  readonly rows?: string;
  readonly groups?: readonly (ExpectedGroup | readonly (string | number)[])[];
  readonly errors?: Record<string, string>;
  readonly total?: number;
  readonly fields?: GoldenCase['fields'];
  readonly logs?: GoldenCase['logs'];
}

/** All cases, by file. `total` is the number of rows or groups where the case does not say. */
export function goldenThemes(): readonly GoldenTheme[] {
  const folder = join(import.meta.dirname, 'cases');
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const written = parse(readFileSync(join(folder, file), 'utf8')) as readonly WrittenCase[];
      return { theme: basename(file, '.yaml'), cases: written.map(goldenCase) };
    });
}

function goldenCase({ name, zone = 1, request, rows, groups, errors, total, fields = {}, logs = {} }: WrittenCase): GoldenCase {
  const ids = rows === undefined ? undefined : expandIds(rows);
  const expected = groups?.map((group) => (isShort(group) ? longGroup(group) : group));
  return {
    name,
    zone,
    request: { ...WHOLE_WINDOW, ...request },
    ...(ids === undefined ? {} : { rows: ids }),
    ...(expected === undefined ? {} : { groups: expected }),
    ...(errors === undefined ? {} : { errors }),
    total: total ?? ids?.length ?? expected?.length ?? 0,
    fields,
    logs,
  };
}

/** `s03..s01 w01` is s03, s02, s01, w01. */
function expandIds(text: string): string[] {
  const words = text.split(' ').filter((word) => word !== '');
  return words.flatMap((word) => {
    const [first = '', last = first] = word.split('..');
    const [from, to] = [Number(first.slice(1)), Number(last.slice(1))];
    const step = from <= to ? 1 : -1;
    const count = Math.abs(to - from) + 1;
    return Array.from({ length: count }, (_, index) => `${first[0]}${String(from + index * step).padStart(2, '0')}`);
  });
}

/** The short form of a group: its key values and then its count. */
function isShort(group: ExpectedGroup | readonly (string | number)[]): group is readonly (string | number)[] {
  return Array.isArray(group);
}

function longGroup(values: readonly (string | number)[]): ExpectedGroup {
  return { key: values.slice(0, -1) as string[], count: values.at(-1) as number };
}
