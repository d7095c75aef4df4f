import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const GLOSSARY = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8');

/** The rows of the table, without its head. */
const ROWS = GLOSSARY.split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, word = '', meaning = '', file = '']) => [word, meaning, file] as const);

describe('the glossary', () => {
  test('has its words once, in the order of the alphabet', () => {
    const words = ROWS.map(([word]) => word.toLowerCase());
    expect(words.length).toBeGreaterThan(30);
    expect(words).toEqual([...new Set(words)].sort());
  });

  test.each(ROWS)('says in one sentence what “%s” is, and names a file that is there', (_word, meaning, file) => {
    expect(meaning).toMatch(/^[A-Z`][^|]*\.$/);
    expect(meaning).not.toMatch(/\.\s/);
    const path = file.match(/^`([^`]+)`$/)?.[1];
    expect(path, 'one file between backticks').toBeDefined();
    expect(existsSync(join(ROOT, path ?? '')), path).toBe(true);
  });

  test('is named in CONTRIBUTING.md', () => {
    expect(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')).toContain('docs/glossary.md');
  });
});
