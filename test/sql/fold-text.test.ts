import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { foldTextFunction } from '../../sql/fold-text.ts';

test('the name of the function has the CRC-32 of its definition, so that another definition has another name', () => {
  const { name, definition } = foldTextFunction();
  expect(name).toBe(`foldText_${crc32(definition).toString(16).padStart(8, '0')}`);
  expect(name).toMatch(/^foldText_[0-9a-f]{8}$/);
});

test('it folds the letters of this Node by their lower case', () => {
  const { definition } = foldTextFunction();
  const [, letters = '', folded = ''] = /translateUTF8\(x, '(.+)', '(.+)'\)/.exec(definition) ?? [];
  expect([...letters]).toHaveLength([...folded].length);
  expect(Object.fromEntries([...letters].map((letter, index) => [letter, [...folded][index]]))).toMatchObject({
    A: 'a',
    Ä: 'ä',
    Σ: 'σ',
    Ⅷ: 'ⅷ',
  });
});
