import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { JSON_COST } from '../../edge/json-scan.ts';
import { GUARDIAN_LIMITS } from '../../edge/local/api-guardian/spec-tree.ts';
import { DATABASE_LIMITS } from '../../edge/local/database/database-limits.ts';
import { SEARCH_LIMITS } from '../../query/search-limits.ts';
import { bytes, count, HEADER, LIMITS_DOCUMENT, milliseconds, surfacesOf } from './limit-table.ts';

const TESTS = join(import.meta.dirname, '..');
const SURFACES = surfacesOf(LIMITS_DOCUMENT);
/** The surfaces of all calls of describeLimits, each of which tests every row of one. */
const CALLS = globSync('limits/*.test.ts', { cwd: TESTS }).flatMap((file) =>
  [...readFileSync(join(TESTS, file), 'utf8').matchAll(/^describeLimits\('([^']+)', import\.meta\.filename/gm)].map(
    ([, surface]) => surface,
  ),
);

describe('docs/limits.md', () => {
  test('has the surfaces that are tested, and no others', () => {
    expect([...SURFACES.keys()].sort()).toEqual(CALLS.sort());
    expect(LIMITS_DOCUMENT.split('\n').filter((line) => line === HEADER)).toHaveLength(SURFACES.size);
  });

  test.each([...SURFACES])('%s has rows that name a limit once, an answer and a test', (_surface, rows) => {
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map(({ limit }) => limit)).size).toBe(rows.length);
    for (const { limit, answered, test: file } of rows) {
      expect(answered, limit).not.toBe('');
      expect(existsSync(join(TESTS, file.replaceAll('`', ''))), `${limit}: ${file}`).toBe(true);
    }
  });
});

/** The program's own lists of limits, whose every member has a row. */
const LISTS = { SEARCH_LIMITS, DATABASE_LIMITS, GUARDIAN_LIMITS, JSON_COST };

test.each(Object.entries(LISTS))('each of %s is in a test of a row', (name, limits) => {
  const sources = globSync('limits/*.test.ts', { cwd: TESTS }).map((file) => readFileSync(join(TESTS, file), 'utf8'));
  const untested = Object.keys(limits).filter((key) => !new RegExp(`\\b${name}\\.${key}\\b`).test(sources.join('\n')));
  expect(untested).toEqual([]);
});

test.each([
  [count(8_192), '8,192'],
  [bytes(64 * 1024 * 1024), '64 MiB'],
  [bytes(512), '512 bytes'],
  [milliseconds(72 * 3_600_000 + 60_000), '72 h 1 min'],
  [milliseconds(250), '250 ms'],
])('%o is written as %s', ({ text }, expected) => {
  expect(text).toBe(expected);
});
