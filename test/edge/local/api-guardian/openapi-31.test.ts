import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';
import { answeredSchema, answering, petSpecification, type Specification } from './specification.ts';

const answering31 = (schema: unknown, schemas: Readonly<Record<string, unknown>> = {}): Specification => ({
  ...answering(schema, schemas),
  openapi: '3.1.1',
});

async function written(schema: unknown, schemas: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  return parse((await answeredSchema(JSON.stringify(answering31(schema, schemas)))) ?? '');
}

const read = (specification: object) => readSpec(JSON.stringify(specification));
const TEXT = { type: 'string' };
const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const PLACE = 'content#/paths/~1a/get/responses/200/content/application~1json/schema';

/** Each writes a schema at the place of a keyword. */
const KEYWORDS: Readonly<Record<string, (schema: unknown) => object>> = {
  ...Object.fromEntries(
    ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'].map((key) => [
      key,
      (schema) => ({ [key]: schema }),
    ]),
  ),
  ...Object.fromEntries(
    ['unevaluatedItems', 'unevaluatedProperties', 'contentSchema'].map((key) => [key, (schema) => ({ [key]: schema })]),
  ),
  ...Object.fromEntries(['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((key) => [key, (schema) => ({ [key]: [TEXT, schema] })])),
  ...Object.fromEntries(
    ['properties', 'patternProperties', 'dependentSchemas'].map((key) => [key, (schema) => ({ [key]: { a: TEXT, b: schema } })]),
  ),
};

/** Schemas inside one another, the innermost included. */
const nested = (depth: number): unknown => (depth === 1 ? TEXT : { items: nested(depth - 1) });

describe('a schema of OpenAPI 3.1', () => {
  test.each<[string, object]>([
    ['a list of types', { type: ['string', 'null'], minLength: 1 }],
    ['const', { const: { a: [null, 1.5, false] } }],
    ['numeric exclusive bounds', { exclusiveMinimum: 0, exclusiveMaximum: 9.5 }],
    ['boolean schemas', { properties: { any: true, none: false }, items: false, not: true }],
    ['what depends on a property', { dependentRequired: { $ref: ['a'], default: ['b'] } }],
    ['numbers of what a list contains', { contains: TEXT, minContains: 0, maxContains: 3 }],
    ['a text with something in it', { contentMediaType: 'application/json', contentEncoding: 'base64', contentSchema: TEXT }],
  ])('has %s', async (_, schema) => {
    expect(await written(schema)).toEqual(schema);
  });

  test.each([true, false])('is %s', async (schema) => {
    expect(await written(schema)).toBe(schema);
    expect(await written(to('A'), { A: schema })).toBe(schema);
  });

  test('has all digits of exclusive bounds and constants', async () => {
    const bounds = '"exclusiveMaximum":9223372036854775807,"const":1234567890123456789';
    const text = JSON.stringify(answering31({ HERE: 1 })).replace('"HERE":1', bounds);
    expect(await answeredSchema(text)).toBe('exclusiveMaximum: 9223372036854775807\nconst: 1234567890123456789\n');
  });

  test('has no descriptions, examples or words that mean nothing', async () => {
    const schema = { ...TEXT, title: 'T', examples: [{ $ref: 'http://x' }], $comment: 'c', nullable: true, other: { a: 1 } };
    expect(await written(schema)).toEqual(TEXT);
  });

  test('has its definitions where they are used', async () => {
    const schema = { $defs: { name: TEXT, unused: TEXT }, properties: { a: { $ref: '#/components/schemas/A/$defs/name' } } };
    expect(await written(to('A'), { A: schema })).toEqual({ properties: { a: TEXT } });
  });

  test.each<[string, object, object]>([
    ['as one more that has to match', { ...to('A'), minLength: 2 }, { minLength: 2, allOf: [TEXT] }],
    ['behind others that have to match', { allOf: [{ maxLength: 9 }], ...to('A') }, { allOf: [{ maxLength: 9 }, TEXT] }],
    ['alone where the others are descriptions', { ...to('A'), description: 'd', summary: 's' }, TEXT],
    ['with schemas of its own', { ...to('A'), properties: { x: to('A') } }, { properties: { x: TEXT }, allOf: [TEXT] }],
    ['inside of its own target', to('Tree'), { required: ['b'], properties: { b: { maxProperties: 1, allOf: [to('Tree')] } } }],
  ])('has a reference beside others %s', async (_, schema, expected) => {
    const tree = { required: ['b'], properties: { b: { ...to('Tree'), maxProperties: 1 } } };
    expect(await written(schema, { A: TEXT, Tree: tree })).toEqual(expected);
  });

  test('has no discriminator, which names schemas that are written out', async () => {
    const pet = { oneOf: [to('Cat')], discriminator: { propertyName: 'kind', mapping: { cat: 'Cat' } } };
    expect(await written({ minProperties: 1, ...to('Pet') }, { Pet: pet, Cat: TEXT })).toEqual({
      minProperties: 1,
      allOf: [{ oneOf: [TEXT] }],
    });
  });
});

describe.each(Object.entries(KEYWORDS))('the schema in %s', (_, around) => {
  test('has its references written out', async () => {
    expect(await written(around(to('A')), { A: TEXT })).toEqual(around(TEXT));
  });

  test('is counted: as deep as is allowed it is taken, one deeper refused', async () => {
    expect(await written(around(nested(15)))).toEqual(around(nested(15)));
    await expect(read(answering31(around(nested(16))))).rejects.toThrow('maxNestingDepth');
    await expect(read(answering31(TEXT, { Unused: around(nested(16)) }))).rejects.toThrow('maxNestingDepth');
  });

  test('is checked', async () => {
    await expect(read(answering31(around({ type: 'strin' })))).rejects.toThrow('"strin" must be equal to one of the allowed values');
    expect(await written(around({ pattern: '((' }))).toEqual(around({}));
    await expect(read(answering31(around({ $ref: 'https://x.example/y' })))).rejects.toThrow('outside of this document');
    await expect(read(answering31(around({ $anchor: 'a' })))).rejects.toThrow('$anchor is not taken');
  });
});

describe('of a specification of OpenAPI 3.1', () => {
  test('the endpoints are those of OpenAPI 3.0', async () => {
    const pets = petSpecification();
    expect(await read({ ...pets, openapi: '3.1.0' })).toEqual(await read(pets));
  });

  test.each<[string, object]>([
    ['webhooks', { webhooks: { created: { post: { responses: { 204: { description: '' } } } } } }],
    ['components', { components: { schemas: { A: TEXT }, pathItems: { P: { get: {} } } } }],
  ])('there are no endpoints in %s alone', async (_, parts) => {
    expect(await read({ openapi: '3.1.0', info: { title: 'T', version: '1', summary: 's' }, ...parts })).toMatchObject({ endpoints: [] });
  });

  test('a path has the operations of its target and those beside it', async () => {
    const responses = { 204: { description: '' } };
    const query = (name: string) => ({ name, in: 'query', schema: TEXT });
    const item = { parameters: [query('a')], get: { responses }, put: { responses } };
    const own = { $ref: '#/components/pathItems/P', parameters: [query('b')], put: { parameters: [query('c')] }, post: {} };
    const { endpoints } = await read({ ...answering31(TEXT), paths: { '/p': own }, components: { pathItems: { P: item } } });
    expect(endpoints.map(({ method, availableParameters }) => [method, ...availableParameters.Query])).toEqual([
      ['GET', 'a', 'b'],
      ['PUT', 'a', 'b', 'c'],
      ['POST', 'a', 'b'],
    ]);
  });

  test('a certificate of the client is in no header', async () => {
    const securitySchemes = { mtls: { type: 'mutualTLS' } };
    const specification = { ...answering31(TEXT), security: [{ mtls: [] }], components: { securitySchemes } };
    const { endpoints } = await read(specification);
    expect(endpoints[0]?.authSchemes).toEqual([{ schemeName: 'mtls', credentialName: '', httpScheme: '' }]);
  });

  test.each([
    'https://spec.openapis.org/oas/3.1/dialect/base',
    'https://spec.openapis.org/oas/3.1/dialect/2024-11-10',
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2020-12/schema#',
  ])('the dialect %s is taken, of the whole and of a schema', async (dialect) => {
    await expect(read({ ...answering31({ $schema: dialect }), jsonSchemaDialect: dialect })).resolves.toBeTruthy();
  });

  test.each([
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema/',
    'https://spec.openapis.org/oas/3.2/dialect/base',
    '',
    5,
  ])('the dialect %j is refused', async (jsonSchemaDialect) => {
    await expect(read({ ...answering31(TEXT), jsonSchemaDialect })).rejects.toThrow(
      `content#/jsonSchemaDialect: ${JSON.stringify(jsonSchemaDialect)} is not taken; allowed: that of OpenAPI 3.1, JSON Schema 2020-12`,
    );
  });

  test.each<[string, unknown, unknown]>([
    ['$id', 'https://x.example/a', '/$id: $id is not taken'],
    ['$anchor', 'a', '/$anchor: $anchor is not taken'],
    ['$dynamicRef', '#a', '/$dynamicRef: $dynamicRef is not taken'],
    ['$dynamicAnchor', 'a', '/$dynamicAnchor: $dynamicAnchor is not taken'],
    ['$recursiveRef', '#', '/$recursiveRef: $recursiveRef is not taken'],
    ['$schema', 'http://json-schema.org/draft-07/schema#', '/$schema: "http://json-schema.org/draft-07/schema#" is not taken'],
    ['$ref', '#name', '/$ref: "#name" is not a JSON pointer'],
    ['exclusiveMinimum', true, '/exclusiveMinimum: true must be number'],
    ['patternProperties', { '((': TEXT }, '/patternProperties: "((" must match format "regex"'],
    ['items', [TEXT], '/items: must be object,boolean'],
    ['discriminator', { mapping: { a: 'A' } }, "/discriminator: must have required property 'propertyName'"],
  ])('%s as %j is refused at its place, and is a name like others elsewhere', async (key, value, says) => {
    const schema = { properties: { a: { [key]: value } } };
    await expect(read(answering31(schema))).rejects.toThrow(`${PLACE}/properties/a${says}`);
    const named = { properties: { [key]: TEXT }, $defs: { [key]: TEXT }, const: { [key]: value }, examples: [{ [key]: value }] };
    await expect(read(answering31(named))).resolves.toBeTruthy();
  });

  test.each<[string, (specification: Specification) => void, string]>([
    [
      'a member that there is not',
      (s) => Object.assign(s['info'], { colour: 1 }),
      'content#/info: must NOT have unevaluated properties: "colour"',
    ],
    ['nothing in it', (s) => ['paths', 'components'].map((key) => delete s[key]), "content: must have required property 'paths'"],
    [
      'no description',
      (s) => delete s['paths']['/a'].get.responses[200].description,
      "responses/200: must have required property 'description'",
    ],
  ])('%s is refused', async (_, change, says) => {
    const specification = answering31(TEXT);
    change(specification);
    await expect(read(specification)).rejects.toThrow(says);
  });
});

describe('the limits of OpenAPI 3.1', () => {
  const fields = (count: number, value: unknown) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

  test('count boolean schemas', async () => {
    // Each list has 127 schemas and is one.
    const schema = (last: number) => ({
      oneOf: [...Array(63).fill({ properties: fields(127, true) }), { properties: fields(last, true) }],
    });
    await expect(read(answering31(schema(126)))).resolves.toBeTruthy();
    await expect(read(answering31(schema(127)))).rejects.toThrow('more than 8192 schemas');
  });

  test('count definitions once, however often their schema is used', async () => {
    const defs = { $defs: fields(4_000, TEXT), type: 'object' };
    await expect(read(answering31({ items: to('A'), contains: to('A'), not: to('A') }, { A: defs }))).resolves.toBeTruthy();
    await expect(read(answering31({ $defs: fields(8_192, TEXT) }))).rejects.toThrow('more than 8192 schemas');
    await expect(read(answering31({ ...to('A'), $defs: { a: nested(17) } }, { A: TEXT }))).rejects.toThrow('maxNestingDepth');
    await expect(read(answering31({ dependencies: { a: ['b'], c: nested(17) } }))).rejects.toThrow('maxNestingDepth');
    await expect(read(answering31({ definitions: { a: nested(17) } }))).rejects.toThrow('maxNestingDepth');
    await expect(read(answering31({ $defs: { a: { $defs: { b: nested(17) } } } }))).rejects.toThrow('maxNestingDepth');
  });

  test.each(['properties', 'patternProperties', 'dependentSchemas'])('hold for the names of %s', async (key) => {
    await expect(read(answering31({ [key]: fields(128, TEXT) }))).resolves.toBeTruthy();
    await expect(read(answering31({ [key]: fields(129, TEXT) }))).rejects.toThrow(`${key}: there are 129 properties`);
  });

  test('count the patterns that names of properties match', async () => {
    const schema = (length: number) => ({ patternProperties: { ['a'.repeat(length)]: { pattern: 'b' } } });
    await expect(read(answering31(schema(16_383)))).resolves.toBeTruthy();
    await expect(read(answering31(schema(16_384)))).rejects.toThrow('maxTotalRegexLength');
  });

  test('count a reference beside others as a schema around it', async () => {
    const around = (depth: number) => ({ items: { ...to('A'), minItems: 1, items: nested(depth) } });
    await expect(read(answering31(around(14), { A: nested(14) }))).resolves.toBeTruthy();
    await expect(read(answering31(around(15), { A: TEXT }))).rejects.toThrow('maxNestingDepth');
    await expect(read(answering31(around(1), { A: nested(15) }))).rejects.toThrow('maxNestingDepth');
  });
});
