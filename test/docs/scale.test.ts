import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './markdown.ts';

const DOCUMENT = readFileSync(join(ROOT, 'docs/scale.md'), 'utf8');

/** The cells of the rows of the first table under a heading, without its head. */
function tableUnder(heading: string): string[][] {
  const lines = DOCUMENT.slice(DOCUMENT.indexOf(`## ${heading}\n`)).split('\n');
  const rows = lines.slice(lines.findIndex((line) => line.startsWith('| --- ')) + 1);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end === -1 ? undefined : end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The numbers of a table, by the names in its first column. */
function numbersUnder(heading: string, column: number): ReadonlyMap<string, number> {
  return new Map(tableUnder(heading).map((cells) => [cells[0]?.replaceAll('`', '') ?? '', Number(cells[column]?.replaceAll(',', ''))]));
}

const constants = numbersUnder('Constants', 1);
const example = numbersUnder('What it begins with', 2);
const value = (of: ReadonlyMap<string, number>, name: string): number => of.get(name) ?? Number.NaN;
const constant = (name: string) => value(constants, name);
const given = (name: string) => value(example, name);

/** Processor time of an event of which a day and shard has so many millions, in ClickHouse. */
const storing = (millions: number) => constant('insert') + constant('merge') * Math.log10(millions);
/** Milliseconds of a search that looks through so many events on some cores. */
const searching = (fixed: string, kind: string, events: number, cores: number) =>
  constant(fixed) + (constant(kind) * events) / (events < 163_840 ? 1 : cores) / 1000;

const KINDS = [
  ['a page of rows', 'oneStatement', 'page'],
  ['groups by action', 'oneStatement', 'fewGroups'],
  ['groups by ip', 'threeStatements', 'manyGroups'],
  ['wildcard', 'oneStatement', 'wildcard'],
  ['free text', 'oneStatement', 'freeText'],
] as const;

const CORES = 2;
const LARGEST_ZONE = 0.1239;

const OF_THIS_MACHINE = new Map([
  ['intake of 5 million events, events/s', (CORES * 1_000_000) / (constant('client') + constant('program') + storing(5))],
  ['bytes of an event, 5 million', constant('bytes')],
  ...[5, 1].flatMap((millions) =>
    KINDS.map(
      ([what, fixed, kind]) =>
        [`${what}, ${millions} million, ms`, searching(fixed, kind, millions * 1_000_000 * LARGEST_ZONE, CORES)] as const,
    ),
  ),
]);

const atPeak = given('R') * given('P');
const millionsOfDay = (given('R') * 86_400) / 4 / 1_000_000;
const inHour = given('R') * 3_600 * given('Z');
const busyCores = (atPeak * given('N') * storing(millionsOfDay)) / 1_000_000;
const OF_THE_EXAMPLE = new Map([
  ['cores of programs', (atPeak * constant('program')) / 1_000_000],
  ['events of a day on each of four shards, millions', millionsOfDay],
  ['cores of ClickHouse for what comes in, all replicas', busyCores],
  ['the same of eight machines with sixteen cores each, %', (100 * busyCores) / (8 * 16)],
  [
    'disk with room for merges, all replicas, TB',
    (1.25 * given('R') * 3_600 * (given('T') + 24) * constant('bytes') * (given('S') / 1_100) * given('N')) / 1e12,
  ],
  ['events of the largest zone in an hour, millions', inHour / 1_000_000],
  ['a page of rows of it, over an hour, on sixteen cores, ms', searching('oneStatement', 'page', inHour, 16)],
  ['free text in it, over an hour, on sixteen cores, ms', searching('oneStatement', 'freeText', inHour, 16)],
  ['readers of a feed of all zones, at the busiest minute', atPeak / constant('feedReader')],
  ['the same over a day', given('R') / constant('feedReader')],
]);

describe('docs/scale.md', () => {
  test('works its example out by its formulas', () => {
    const told = numbersUnder('The example', 1);
    expect([...told.keys()]).toEqual([...OF_THE_EXAMPLE.keys()]);
    for (const [what, computed] of OF_THE_EXAMPLE) {
      expect(Math.abs(value(told, what) / computed - 1), `${what}: ${computed}`).toBeLessThan(0.01);
    }
  });

  test('says of the machine of the measurements what was measured there, within a quarter', () => {
    const heading = 'What it says of this machine';
    const [told, measured] = [numbersUnder(heading, 1), numbersUnder(heading, 2)];
    expect([...told.keys()]).toEqual([...OF_THIS_MACHINE.keys()]);
    for (const [what, computed] of OF_THIS_MACHINE) {
      expect(Math.abs(value(told, what) / computed - 1), `${what}: ${computed}`).toBeLessThan(0.02);
      expect(Math.abs(computed / value(measured, what) - 1), what).toBeLessThan(0.25);
    }
  });
});
