import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';
import { answering, petSpecification, type Specification } from './specification.ts';

const TEXT = { type: 'string' };
const PLACE = 'content#/paths/~1a/get/responses/200/content/application~1json/schema';

const specification = (openapi: string, schema: unknown, schemas: Readonly<Record<string, unknown>> = {}): Specification => ({
  ...answering(schema, schemas),
  openapi,
});

async function read(value: object): Promise<{ readonly schema: unknown; readonly notes: readonly string[] }> {
  const { endpoints, notes } = await readSpec(JSON.stringify(value));
  return { schema: parse(endpoints[0]?.responseBodySchemasYaml['200'] ?? ''), notes };
}

describe.each(['3.0.3', '3.1.1'])('in OpenAPI %s', (openapi) => {
  test.each([
    ['does not end', '(('],
    ['has flags of Perl', '(?i)^abc$'],
    ['has anchors of Python', '\\Aabc\\Z'],
    ['has a possessive quantifier', 'a++'],
    ['has a class of POSIX', '[[:alpha:]&&[^a]]\\h'],
    ['escapes what needs no escape', '^\\d{3}\\-\\d{4}$'],
    ['counts down', 'a{2,1}'],
  ])('a pattern that %s is not used', async (_, pattern) => {
    const { schema, notes } = await read(specification(openapi, { ...TEXT, minLength: 1, pattern }));
    expect(schema).toEqual({ ...TEXT, minLength: 1 });
    expect(notes).toEqual([`${PLACE}/pattern: ${JSON.stringify(pattern)} is no regular expression of ECMA-262 (with the flag u)`]);
  });

  test.each(['', '^\\d+$', '(?<a>.)\\k<a>', '\\p{L}', '[\\w\\-]', '\\u{1F600}'])('the pattern %j is used', async (pattern) => {
    expect(await read(specification(openapi, { ...TEXT, pattern }))).toEqual({ schema: { ...TEXT, pattern }, notes: [] });
  });

  test('a pattern that is not used is counted, and its schema is checked', async () => {
    const pattern = (length: number) => ({ pattern: '('.repeat(length) });
    await expect(read(specification(openapi, pattern(16_384)))).resolves.toBeTruthy();
    await expect(read(specification(openapi, pattern(16_385)))).rejects.toThrow('maxTotalRegexLength');
    await expect(read(specification(openapi, { ...pattern(2), maxLength: 'x' }))).rejects.toThrow(`${PLACE}/maxLength`);
    await expect(read(specification(openapi, { pattern: 5 }))).rejects.toThrow(`${PLACE}/pattern: 5 must be string`);
  });

  test('every schema has its notes, the used ones once for its place', async () => {
    const bad = { ...TEXT, pattern: '((' };
    const { notes } = await read({
      ...specification(openapi, { type: 'array', items: { $ref: '#/components/schemas/A' } }, { A: bad, B: { properties: { c: bad } } }),
      paths: { '/a': { parameters: [{ name: 'q', in: 'query', schema: bad }], get: { responses: { 204: { description: '' } } } } },
    });
    expect(notes.map((note) => note.split(': ')[0])).toEqual([
      'content#/paths/~1a/parameters/0/schema/pattern',
      'content#/components/schemas/A/pattern',
      'content#/components/schemas/B/properties/c/pattern',
    ]);
  });

  test('of many notes the first are told, and how many more there are', async () => {
    const properties = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, { ...TEXT, pattern: '((' }]));
    expect((await read(specification(openapi, { properties: properties(20) }))).notes).toHaveLength(20);
    const { notes } = await read(specification(openapi, { properties: properties(23) }));
    expect(notes).toHaveLength(21);
    expect(notes.at(-1)).toBe('3 more');
  });

  test('properties named like keywords, and data, have no notes', async () => {
    const named = { properties: { pattern: TEXT, examples: TEXT }, default: { pattern: '((', examples: 1 }, enum: [{ pattern: '((' }] };
    expect(await read(specification(openapi, named))).toEqual({ schema: named, notes: [] });
    expect((await readSpec(JSON.stringify({ ...petSpecification(), openapi }))).notes).toEqual([]);
  });

  test.each([{ a: { value: 1 } }, {}])('examples of a media type are named objects, as %j', async (examples) => {
    const value = specification(openapi, TEXT);
    const media = value['paths']['/a'].get.responses[200].content['application/json'];
    media.examples = examples;
    expect(await read(value)).toEqual({ schema: TEXT, notes: [] });
    media.examples = { a: { $ref: '#/nothing' } };
    await expect(read(value)).rejects.toThrow('"#/nothing" points at nothing');
    media.examples = ['a'];
    await expect(read(value)).rejects.toThrow('/content/application~1json');
  });
});

describe('examples of a schema', () => {
  test.each([{ a: { value: 1 } }, { $ref: '#/nothing' }, 'text', 5, true, null])('as %j are not used in OpenAPI 3.1', async (examples) => {
    const { schema, notes } = await read(specification('3.1.0', { ...TEXT, examples }));
    expect(schema).toEqual(TEXT);
    expect(notes).toEqual([expect.stringMatching(/^content#\/paths\/.*\/schema\/examples: .* is not an array$/)]);
  });

  test('are shown as they stand, with the digits of their numbers', async () => {
    const text = JSON.stringify(specification('3.1.0', { ...TEXT, examples: 'here' })).replace(
      '"here"',
      '{"a":[1.50,{"b":9007199254740993}]}',
    );
    expect((await readSpec(text)).notes).toEqual([`${PLACE}/examples: {"a":[1.50,{"b":9007199254740993}]} is not an array`]);
  });

  test.each([[], ['a', { $ref: '#/nothing', pattern: '((' }]])('as an array are what they have to be', async (...examples) => {
    expect(await read(specification('3.1.0', { ...TEXT, examples }))).toEqual({ schema: TEXT, notes: [] });
  });

  test.each([['a'], 'a', { a: 1 }])('as %j are no member in OpenAPI 3.0', async (examples) => {
    await expect(read(specification('3.0.3', { ...TEXT, examples }))).rejects.toThrow('"examples"');
  });
});
