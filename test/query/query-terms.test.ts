import { describe, expect, it } from 'vitest';
import { queryTerms } from '../../query/query-terms.ts';

describe('the terms of a query', () => {
  it.each([
    ['nothing at all', '', []],
    ['only blanks', ' \t\r\n\u00a0\u2003', []],
    ['one word', 'curl', ['curl']],
    ['words between any white space', ' a\tb\u00a0c\nd ', ['a', 'b', 'c', 'd']],
    ['a phrase keeps its blanks', '"sql  injection" union', ['sql  injection', 'union']],
    ['a phrase of blanks', '"  "', ['  ']],
    ['a phrase ends at the next quote', '"a b"c', ['a b', 'c']],
    ['an empty phrase is no term', '"" a ""', ['a']],
    ['a quote that is never closed is a character', '"abc def', ['"abc', 'def']],
    ['a lone quote', '"', ['"']],
    ['a quote inside a term is a character', '6" a"b c"d', ['6"', 'a"b', 'c"d']],
    ['three quotes', '"""', ['"']],
    ['a repeated term counts once', 'a b a "a"', ['a', 'b']],
    ['case is left alone', 'CURL curl', ['CURL', 'curl']],
    ['nothing else is special', "% _ * \\ ' - + ( ) field:value", ['%', '_', '*', '\\', "'", '-', '+', '(', ')', 'field:value']],
  ])('%s: %j', (_, query, terms) => {
    expect(queryTerms(query)).toEqual(terms);
  });

  it('takes a megabyte of quotes in its stride', () => {
    expect(queryTerms('" '.repeat(500_000))).toEqual([' ']);
  });
});
