import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './markdown.ts';

const HEADING = '## From a change to its tests\n';
const ROOMS = ['query', 'sql', 'work', 'store', 'ingest', 'alerts'];

/** All files that git tracks or would add. */
const TREE = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));

const TESTS = TREE.filter((file) => file.startsWith('test/') && file.endsWith('.test.ts'));

/** Which of the test files each script runs, by the end of their names and their folders. */
const SCRIPTS: Readonly<Record<string, (file: string) => boolean>> = {
  'test:unit': (file) => !/\.(process|slow|long|nightly)\.test\.ts$|^test\/(broker|browser|clickhouse|property|readme)\//.test(file),
  'test:slow': (file) => file.endsWith('.slow.test.ts'),
  'test:long': (file) => file.endsWith('.long.test.ts'),
  'test:clickhouse': (file) => file.startsWith('test/clickhouse/'),
  'test:property': (file) => /^test\/property\/(?!.*\.(slow|nightly)\.)/.test(file),
};

interface Command {
  readonly script: string;
  readonly paths: readonly string[];
}

interface Row {
  /** Files, and folders with a slash at the end. */
  readonly changed: readonly string[];
  readonly commands: readonly Command[];
}

function codeIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

function commandIn(code: string): Command {
  const [, script = '', paths = ''] = /^npm run (\S+) -- (.+)$/.exec(code) ?? [];
  return { script, paths: paths.split(' ') };
}

/** The rows of the table of CONTRIBUTING.md. */
function rowsIn(document: string): readonly Row[] {
  const [, section = ''] = document.split(HEADING);
  const [text = ''] = section.split('\n## ');
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((line) => {
    const [, changed = '', run = ''] = line.split('|');
    return { changed: codeIn(changed), commands: codeIn(run).map(commandIn) };
  });
}

/** Whether a test, or a folder of tests, has the name of the file in the mirrored place. */
function hasOwnTest(file: string): boolean {
  const place = `test/${file.replace(/\.ts$/, '')}`;
  return TESTS.some(
    (path) => path.startsWith(`${place}/`) || (path.startsWith(`${place}.`) && /^(\.\w+)?\.test\.ts$/.test(path.slice(place.length))),
  );
}

const ROWS = rowsIn(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'));
const NAMED = ROWS.flatMap(({ changed }) => changed);
const OTHERS = TREE.filter((file) => ROOMS.includes(file.split('/')[0] ?? '') && file.endsWith('.ts') && !hasOwnTest(file));

/** What the table names for a file: the file itself, or else its folder. */
function namesOf(file: string): readonly string[] {
  const own = NAMED.filter((name) => name === file);
  return own.length > 0 ? own : NAMED.filter((name) => name === `${dirname(file)}/`);
}

describe('the table of the tests of files', () => {
  test('has each file without a test of its name once', () => {
    expect(OTHERS.length).toBeGreaterThan(100);
    expect(OTHERS.filter((file) => namesOf(file).length !== 1)).toEqual([]);
  });

  test('names no file or folder for nothing', () => {
    const used = new Set(OTHERS.flatMap(namesOf));
    expect(NAMED.filter((name) => !used.has(name))).toEqual([]);
  });

  test.each(ROWS)('says what to run after a change in $changed', ({ commands }) => {
    expect(commands.length).toBeGreaterThan(0);
    for (const { script, paths } of commands) {
      const runs = SCRIPTS[script];
      expect(runs, script).toBeDefined();
      expect(paths.filter((path) => !TESTS.some((file) => (file === path || file.startsWith(`${path}/`)) && runs?.(file)))).toEqual([]);
    }
  });
});
