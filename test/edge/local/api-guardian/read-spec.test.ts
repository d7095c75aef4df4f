import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';
import { answering, petSpecification } from './specification.ts';

const PET = `type: object
required:
  - name
properties:
  name:
    type: string
  parent:
    $ref: "#/components/schemas/Pet"
  owner:
    type: object
    properties:
      pets:
        type: array
        items:
          $ref: "#/components/schemas/Pet"
`;

const KEY = { schemeName: 'key', credentialName: 'X-Key', httpScheme: '' };

describe('what is read of a specification', () => {
  test.each([
    ['JSON', JSON.stringify(petSpecification())],
    ['JSON with a byte order mark', `\uFEFF${JSON.stringify(petSpecification())}`],
    ['YAML', stringify(petSpecification())],
    ['YAML in braces', JSON.stringify(petSpecification(), null, 1).replace('"openapi"', 'openapi')],
  ])('is the same as %s', async (_, text) => {
    expect(await readSpec(text)).toEqual({
      title: 'Pets',
      version: '1.2',
      notes: [],
      endpoints: [
        {
          method: 'GET',
          path: '/pets/{id}',
          authSchemes: [KEY],
          availableParameters: { Path: ['id'], Query: ['q'], Header: ['X-Trace'], Cookie: ['session'] },
          requestBodySchemaYaml: '',
          responseBodySchemasYaml: { 200: PET, default: 'type: object\nproperties:\n  code:\n    type: integer\n' },
        },
        {
          method: 'PUT',
          path: '/pets/{id}',
          authSchemes: [
            { schemeName: 'oauth', credentialName: 'Authorization', httpScheme: 'bearer' },
            { schemeName: 'basic', credentialName: 'Authorization', httpScheme: 'basic' },
            KEY,
          ],
          availableParameters: { Path: ['id'], Query: [], Header: [], Cookie: [] },
          requestBodySchemaYaml: PET,
          responseBodySchemasYaml: {},
        },
        {
          method: 'GET',
          path: '/health',
          authSchemes: [],
          availableParameters: { Path: [], Query: [], Header: [], Cookie: [] },
          requestBodySchemaYaml: '',
          responseBodySchemasYaml: {},
        },
      ],
    });
  });

  test.each([
    ['1.0', '1.0'],
    ['1.10', '1.10'],
    ['2', '2'],
    ['1e3', '1e3'],
    ['0x10', '0x10'],
    ['2024-01-31', '2024-01-31'],
    ['12345678901234567890', '12345678901234567890'],
  ])('has the version %s of YAML without quotes as a text', async (written, version) => {
    const { title, version: read } = await readSpec(`openapi: 3.0.0\ninfo: {title: 2024, version: ${written}}\npaths: {}`);
    expect([title, read]).toEqual(['2024', version]);
  });

  test('has a version that is a number of JSON as a text', async () => {
    const text = '{"openapi": "3.0.0", "info": {"title": "T", "version": 1.0}, "paths": {}}';
    expect((await readSpec(text)).version).toBe('1.0');
  });

  test.each([
    '{openapi: 3.0.0, info: {title: T, version: "1"}, servers: [{url: https://x.example}], paths: {}}',
    '{"openapi": "3.0.0", # a comment of YAML\n "info": {"title": "// T /* */", "version": "1"}, "paths": {},}',
  ])('is YAML that looks like JSON: %s', async (text) => {
    expect(await readSpec(text)).toMatchObject({ version: '1' });
  });

  test('has an alias of YAML, and a merge, written out', async () => {
    const text = `openapi: 3.0.0
info: {title: T, version: '1'}
paths:
  /a: {get: {responses: &r {'200': {description: d, content: {application/json: {schema: &s {type: string, maxLength: 5}}}}}}}
  /b: {get: {responses: *r}}
  /c: {get: {responses: {'200': {description: d, content: {application/json: {schema: {<<: *s, maxLength: 6}}}}}}}`;
    const yamls = (await readSpec(text)).endpoints.map(({ responseBodySchemasYaml }) => responseBodySchemasYaml['200']);
    expect(yamls.map((yaml) => yaml?.split('\n').toSorted())).toEqual([5, 5, 6].map((n) => ['', `maxLength: ${n}`, 'type: string']));
  });

  test.each<[string, unknown]>([
    ['named like what JavaScript objects inherit', JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}')],
    ['named like references and anchors', { $ref: { type: 'string' }, $id: { type: 'string' }, $anchor: { type: 'string' } }],
    ['named like keywords', { default: { type: 'string' }, properties: { type: 'object', properties: { example: { type: 'string' } } } }],
  ])('are properties %s', async (_, properties) => {
    const { endpoints } = await readSpec(JSON.stringify(answering({ type: 'object', properties })));
    const yaml = endpoints[0]?.responseBodySchemasYaml['200'];
    for (const name of Object.keys(properties as object)) expect(yaml).toContain(`  ${name}:\n`);
  });

  test.each(['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveAnchor', '$schema'])(
    'refuses %s in a schema, with its place, and reads it elsewhere',
    async (key) => {
      const place = 'content#/paths/~1a/get/responses/200/content/application~1json/schema/properties/a';
      const refused = answering({ properties: { a: { [key]: 'https://x.example/a' } } });
      await expect(readSpec(JSON.stringify(refused))).rejects.toThrow(`${place}/${key}: ${key} is not taken`);
      const named = {
        ...answering({ properties: { [key]: { type: 'string' } }, example: { [key]: 1 } }),
        $schema: 'https://x.example/editor',
      };
      expect((await readSpec(JSON.stringify(named))).endpoints).toHaveLength(1);
    },
  );

  test('leaves data alone that looks like references', async () => {
    const schema = {
      type: 'object',
      example: { $ref: 'http://x/y', $id: 'same' },
      default: { $ref: '#/nowhere', $id: 'same' },
      'x-a': { $ref: 'z' },
    };
    await expect(readSpec(JSON.stringify(answering(schema)))).resolves.toBeTruthy();
  });

  test('never runs a pattern, however long it would take', async () => {
    const pattern = '^(a+)+$';
    const schema = { type: 'string', pattern, example: `${'a'.repeat(60)}!`, default: `${'a'.repeat(60)}!` };
    const { endpoints } = await readSpec(JSON.stringify(answering(schema)));
    expect(endpoints[0]?.responseBodySchemasYaml['200']).toContain(pattern);
  });
});
