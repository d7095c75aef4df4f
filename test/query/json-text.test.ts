import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindOf, membersOf, memberText } from '../../query/json-text.ts';
import { assertProperty } from '../random/assert-property.ts';

/** The value that a text of JSON means, read by the tree's own steps. */
function meaning(text: string): unknown {
  const kind = kindOf(text);
  if (kind === 'list') return membersOf(text).map((member) => meaning(member.text));
  if (kind === 'object') return Object.fromEntries(membersOf(text).map(({ name, text }) => [name, meaning(text)]));
  return JSON.parse(text);
}

describe('JSON as its text', () => {
  test.each([
    ['{}', []],
    [' [ ] ', []],
    ['"[1]"', []],
    ['{"b":1,"a":2,"10":3,"9":4}', ['b=1', 'a=2', '10=3', '9=4']],
    ['{"id":9007199254740993123,"x":1.10,"e":-0E+2}', ['id=9007199254740993123', 'x=1.10', 'e=-0E+2']],
    ['{ "a" :\t1 ,\r\n"a": [2 , 3 ] }', ['a=1', 'a=[2 , 3 ]']],
    ['{"__proto__":{"x":1},"constructor":null}', ['__proto__={"x":1}', 'constructor=null']],
    [String.raw`{"a\"}":"\\\"]","b\\":"{\\"}`, [String.raw`a"}="\\\"]"`, String.raw`b\="{\\"`]],
    [String.raw`{"\u0061\"":[1,[2]],"日本":"é🦊"}`, ['a"=[1,[2]]', '日本="é🦊"']],
    ['[true,null,"x",[1],{"y":[]}]', ['null=true', 'null=null', 'null="x"', 'null=[1]', 'null={"y":[]}']],
  ])('%s', (text, members) => {
    expect(membersOf(text.trim()).map((member) => `${member.name}=${member.text}`)).toEqual(members);
  });

  test('means what JSON.parse reads, with any blanks', () => {
    const json = fc
      .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom('', ' ', '\t', '\r\n'))
      .map(([value, indent]) => JSON.stringify(value, null, indent));
    assertProperty(
      fc.property(json, (text) => {
        expect(meaning(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('of a megabyte of brackets is read one level at a time', () => {
    const text = `{"deep":${'['.repeat(500_000)}${']'.repeat(500_000)},"after":7}`;
    expect(memberText(text, 'after')).toBe('7');
    expect(membersOf(memberText(text, 'deep') ?? '')).toHaveLength(1);
  });

  test.each(['{"a":"x', '[[1]', '{"a":{"b":"}"}'])('that is cut off is an error: %s', (text) => {
    expect(() => membersOf(text)).toThrow('the JSON ends within the value that begins at character');
  });

  test.each(['{', '[', '{"a"', '{"a":', '{"a":1', '{a:1}', '{"a" 1}', '["a', '[1', '{"a\n":1}'])('%j is none', (text) => {
    expect(() => membersOf(text)).toThrow(SyntaxError);
  });
});
