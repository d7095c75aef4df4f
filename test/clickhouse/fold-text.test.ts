import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldText } from '../../query/match/match-event.ts';
import { createFoldText } from '../../sql/clickhouse/store-tables.ts';
import { clickhouseDialect, clickhouseStatement } from '../../sql/dialect.ts';
import { sql, textList, trusted } from '../../sql/statement.ts';
import { DatabaseReader } from './database-reader.ts';

const reader = await DatabaseReader.open();

beforeAll(async () => {
  await reader.run(createFoldText());
});

afterAll(() => reader.close());

/** Every code point but the halves of pairs, which no text has. */
const LETTERS = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint)
  .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  .map((codePoint) => String.fromCodePoint(codePoint));

/**
 * What stands around a letter: nothing but commas, ASCII, letters whose lower case hangs on neighbours in some languages, and other
 * letters.
 */
const CONTEXTS: readonly (readonly [name: string, before: string, after: string])[] = [
  ['between commas', '', ''],
  ['within ASCII', 'A', 'Z'],
  ['at the end of a Greek word', '\u0391\u03a3', ''],
  ['before a combining dot', '\u0130', '\u0307'],
  ['within letters of four bytes', '\u{10400}', '\u{1f600}'],
];

/** So many letters are in a text, each with what stands around it and a comma behind. The first text is ASCII alone. */
const LETTERS_OF_TEXT = 128;
const TEXTS_AT_A_TIME = 2_000;

test.each(CONTEXTS)('every code point is folded as the matcher folds it, %s', async (_, before, after) => {
  const all = Array.from({ length: Math.ceil(LETTERS.length / LETTERS_OF_TEXT) }, (_, at) =>
    LETTERS.slice(at * LETTERS_OF_TEXT, (at + 1) * LETTERS_OF_TEXT)
      .map((letter) => `${before}${letter}${after},`)
      .join(''),
  );
  for (let from = 0; from < all.length; from += TEXTS_AT_A_TIME) {
    const texts = all.slice(from, from + TEXTS_AT_A_TIME);
    const folded = clickhouseDialect.fold(trusted('one'));
    const statement = clickhouseStatement(sql`SELECT ${folded} FROM (SELECT arrayJoin(${textList(texts)}) AS one) AS texts`);
    const { rows } = await reader.read(statement, {});
    const different = texts.filter((text, index) => rows[index]?.[0] !== foldText(text));
    expect(different).toEqual([]);
  }
});

test.each(['String', 'Nullable(String)', 'LowCardinality(Nullable(String))'])('a missing text of %s stays missing', async (type) => {
  const values = trusted(`arrayJoin(CAST(['ABC', '\u00c4bC', NULL, ''], 'Array(Nullable(String))'))`);
  const given = type === 'String' ? sql`ifNull(${values}, 'none')` : values;
  const one = sql`SELECT CAST(${given}, '${trusted(type)}') AS one`;
  const statement = clickhouseStatement(sql`SELECT ${clickhouseDialect.fold(trusted('one'))} FROM (${one}) AS texts`);
  const { rows } = await reader.read(statement, {});
  expect(rows.flat()).toEqual(['abc', '\u00e4bc', type === 'String' ? 'none' : null, '']);
});
