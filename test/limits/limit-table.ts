import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONFIG_VARIABLES } from '../../src/config/config-table.ts';
import { RequestProblem } from '../../src/http/problem.ts';
import type { Answer } from '../src/running-app.ts';
import { testTitles } from './test-titles.ts';

const TESTS = join(import.meta.dirname, '..');

export const LIMITS_DOCUMENT = readFileSync(join(TESTS, '../docs/limits.md'), 'utf8');

/** A row of docs/limits.md, cell by cell. */
interface LimitRow {
  readonly limit: string;
  readonly byDefault: string;
  readonly setting: string;
  readonly answered: string;
  readonly test: string;
}

export const HEADER = '| limit | default | setting | what is answered | test |';

/** The surfaces that the document has, in its order, each with its rows. */
export function surfacesOf(markdown: string): ReadonlyMap<string, readonly LimitRow[]> {
  const sections = markdown.split(/^## /m).slice(1);
  return new Map(sections.map((section) => [section.split('\n', 1)[0] ?? '', rowsOf(section)]));
}

function rowsOf(section: string): readonly LimitRow[] {
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const [, limit = '', byDefault = '', setting = '', answered = '', file = ''] = line.split('|').map((cell) => cell.trim());
    return { limit, byDefault, setting, answered, test: file };
  });
}

/** A limit's value, and how the document writes it. */
export interface Amount {
  readonly value: number;
  readonly text: string;
}

const grouped = (value: number): string => value.toLocaleString('en-US');

export function count(value: number): Amount {
  return { value, text: grouped(value) };
}

/** Written in the largest unit that divides it. */
export function bytes(value: number): Amount {
  const [size, unit] = [[1024 ** 3, 'GiB'] as const, [1024 ** 2, 'MiB'] as const, [1024, 'KiB'] as const, [1, 'bytes'] as const].find(
    ([each]) => value % each === 0,
  ) ?? [1, 'bytes'];
  return { value, text: `${grouped(value / size)} ${unit}` };
}

/** A time in milliseconds, written as `72 h 1 min`. */
export function milliseconds(value: number): Amount {
  const parts: string[] = [];
  let rest = value;
  for (const [size, unit] of [[3_600_000, 'h'] as const, [60_000, 'min'] as const, [1_000, 's'] as const, [1, 'ms'] as const]) {
    if (rest >= size) parts.push(`${grouped(Math.floor(rest / size))} ${unit}`);
    rest %= size;
  }
  return { value, text: parts.join(' ') };
}

/**
 * Tries the limit on the program: `ask` asks for so much and resolves with what it ended in, which is `ok` or the first `code` of the cell.
 */
interface TriedHere {
  readonly is: Amount;
  readonly ask: (amount: number) => Promise<string>;
  /** The most that passes. Absent: the limit itself. */
  readonly within?: number;
  /** The least that is refused; of a lower limit, the most. Absent: one more than the limit. */
  readonly past?: number;
}

/** The test that another file has about the limit, by its title as `testTitles` has it. */
interface TriedElsewhere {
  readonly is: Amount;
  readonly elsewhere: string;
}

export type LimitTest = TriedHere | TriedElsewhere;

/** Returns `ok`, or the status of an answer and the key of its error. */
export function outcomeOf({ status, text }: Pick<Answer, 'status' | 'text'>): string {
  if (status < 400) return 'ok';
  const [, key] = /"(?:errorKey|ErrorKey|code)":"([^"]+)"/.exec(text) ?? [];
  return key === undefined ? String(status) : `${status} ${key}`;
}

/** Returns the status and key with which the program answers the refusal that `work` throws; `ok` if it throws none. */
export async function refusalOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
    return `${error.status} ${error.errorKey}`;
  }
}

const firstCode = (cell: string): string | undefined => /`([^`]+)`/.exec(cell)?.[1];

function checkSetting({ setting, byDefault }: LimitRow): void {
  const [, name] = /^`([A-Z_]+)`$/.exec(setting) ?? [];
  if (setting === '' || /^`--[a-z-]+`$/.test(setting)) return;
  const variable = CONFIG_VARIABLES.find((each) => each.name === name);
  expect(variable, `${setting} is a setting of the program`).toBeDefined();
  expect(byDefault).not.toBe('');
}

/**
 * Holds the rows of one surface in docs/limits.md against `tests`, by the words in the first column: each row has one, and each of them has
 * a row. The default is the code's, the limit itself passes, and one past it ends as the row says. `file` is the caller's
 * `import.meta.filename`.
 */
export function describeLimits(surface: string, file: string, tests: Readonly<Record<string, LimitTest>>): void {
  const rows = surfacesOf(LIMITS_DOCUMENT).get(surface) ?? [];
  describe(`limits of ${surface} in docs/limits.md`, () => {
    test('are those that are tested here', () => {
      expect(rows.map(({ limit }) => limit).sort()).toEqual(Object.keys(tests).sort());
    });

    test.each(rows.filter(({ limit }) => limit in tests))('$limit: $byDefault', async (row) => {
      const tried = tests[row.limit] as LimitTest;
      expect(row.byDefault).toBe(tried.is.text);
      checkSetting(row);
      if ('elsewhere' in tried) {
        expect(row.test).not.toBe(pathOf(file));
        expect(testTitles(join(TESTS, row.test.replaceAll('`', '')))).toContain(tried.elsewhere);
        return;
      }
      expect(row.test).toBe(pathOf(file));
      const past = tried.past ?? tried.is.value + 1;
      expect({ within: await tried.ask(tried.within ?? tried.is.value), past: await tried.ask(past) }).toEqual({
        within: 'ok',
        past: firstCode(row.answered),
      });
    });
  });
}

/** Returns the path of a test as the last column has it. */
function pathOf(file: string): string {
  return `\`${relative(TESTS, file)}\``;
}
