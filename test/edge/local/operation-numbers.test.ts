import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../../edge/operations/operations.ts';

const LOCAL = join(import.meta.dirname, '../../../edge/local');
const FILES = globSync('**/*.ts', { cwd: LOCAL }).map((file) => ({ file, source: readFileSync(join(LOCAL, file), 'utf8') }));

/** The numbers that the docstrings of a file give to the operations that it answers. */
function numbersIn(source: string): readonly number[] {
  const named = source.match(/ \* .*\boperations? \d+( and \d+)*|\/\*\* .*\boperations? \d+( and \d+)*/g) ?? [];
  return named.flatMap((text) => (text.match(/\d+/g) ?? []).map(Number));
}

test.each(OPERATIONS.map(({ number, path }) => [number, path] as const))(
  'operation %i, %s, is named in the file that answers it',
  (number, path) => {
    const answering = FILES.filter(({ source }) => source.includes(`'${path}'`));
    expect(answering.map(({ file }) => file)).toHaveLength(1);
    expect(numbersIn(answering[0]?.source ?? '')).toContain(number);
  },
);
