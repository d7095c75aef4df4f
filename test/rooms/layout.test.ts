import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAY_IMPORT } from './room-table.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

const MAX_COLUMNS = 140;
/** A folder with more files than this no longer explains itself by its listing. */
const MAX_FILES = 20;

const CODE = new Set(['.ts', '.js', '.mjs', '.mts', '.css', '.html', '.grit']);
/** The tests of a folder are as many as it needs; `.` is not a room. */
const ROOMS = new Set(Object.keys(MAY_IMPORT).filter((room) => room !== 'test'));

/** All files that git tracks or would add, relative to the checkout. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: CHECKOUT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(CHECKOUT, file)));

/** The lines that are too long, as `file:line`. */
function longLines(file: string): string[] {
  const lines = readFileSync(join(CHECKOUT, file), 'utf8').split('\n');
  return lines.flatMap((line, index) => ([...line].length > MAX_COLUMNS ? [`${file}:${index + 1}`] : []));
}

describe('the layout of the tree', () => {
  test('has no line of code over 140 columns', () => {
    const code = files.filter((file) => CODE.has(extname(file)));
    expect(code.length).toBeGreaterThan(100);
    expect(code.flatMap((file) => longLines(file))).toEqual([]);
  });

  test('has no folder with more files than its listing explains', () => {
    const sources = files.filter((file) => CODE.has(extname(file)) && ROOMS.has(file.split('/')[0] as string));
    const byFolder = Map.groupBy(sources, (file) => dirname(file));
    const crowded = [...byFolder]
      .filter(([, inside]) => inside.length > MAX_FILES)
      .map(([folder, inside]) => `${folder}: ${inside.length}`);
    expect(crowded).toEqual([]);
  });
});
