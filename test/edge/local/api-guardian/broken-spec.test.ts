import { expect, test } from 'vitest';
import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';
import { petSpecification, type Specification } from './specification.ts';

/** Each row breaks the valid specification and has the path that the error names. */
const BROKEN: readonly {
  readonly what: string;
  readonly change: (spec: Specification) => void;
  readonly field: string;
  readonly says: string;
}[] = [
  {
    what: 'Swagger 2.0',
    change: (s) => {
      delete s['openapi'];
      s['swagger'] = '2.0';
    },
    field: '#/swagger',
    says: 'Swagger "2.0"',
  },
  {
    what: 'OpenAPI 3.1 without its third number',
    change: (s) => {
      s['openapi'] = '3.1';
    },
    field: '#/openapi',
    says: 'OpenAPI "3.1" is not taken; allowed: OpenAPI 3.0 and 3.1, such as',
  },
  {
    what: 'a word of OpenAPI 3.1 in 3.0',
    change: (s) => {
      s['components'].schemas.Pet.const = 1;
    },
    field: '#/components/schemas/Pet',
    says: '"const"',
  },
  {
    what: 'OpenAPI 3.2',
    change: (s) => {
      s['openapi'] = '3.2.0';
    },
    field: '#/openapi',
    says: 'OpenAPI "3.2.0"',
  },
  {
    what: 'a version that is a number',
    change: (s) => {
      s['openapi'] = 3;
    },
    field: '#/openapi',
    says: '3 is not the text',
  },
  {
    what: 'no version',
    change: (s) => {
      delete s['openapi'];
    },
    field: '#/openapi',
    says: 'nothing is not the text',
  },
  {
    what: 'no title',
    change: (s) => {
      delete s['info'].title;
    },
    field: '#/info',
    says: "'title'",
  },
  {
    what: 'a response without a description',
    change: (s) => {
      s['paths']['/health'].get.responses = { 200: {} };
    },
    field: '#/paths/~1health/get/responses/200',
    says: "'description'",
  },
  {
    what: 'a parameter nowhere',
    change: (s) => {
      s['paths']['/pets/{id}'].parameters[0].in = 'body';
    },
    field: '#/paths/~1pets~1{id}/parameters/0/in',
    says: '"body"',
  },
  {
    what: 'a property that OpenAPI does not have',
    change: (s) => {
      s['info'].colour = 'red';
    },
    field: '#/info',
    says: '"colour"',
  },
  {
    what: 'a reference to a web address',
    change: (s) => {
      s['components'].schemas.Pet.properties.owner.$ref = 'https://x.example/y.yaml#/Z';
    },
    field: '#/components/schemas/Pet/properties/owner/$ref',
    says: 'outside of this document',
  },
  {
    what: 'a reference to a file',
    change: (s) => {
      s['components'].schemas.Pet.properties.owner.$ref = '/etc/passwd';
    },
    field: '#/components/schemas/Pet/properties/owner/$ref',
    says: 'outside of this document',
  },
  {
    what: 'a reference to nothing',
    change: (s) => {
      s['components'].schemas.Pet.properties.owner.$ref = '#/components/schemas/None';
    },
    field: '#/components/schemas/Pet/properties/owner/$ref',
    says: 'points at nothing',
  },
  {
    what: 'a reference to what objects inherit',
    change: (s) => {
      s['components'].schemas.Pet.properties.owner.$ref = '#/components/constructor';
    },
    field: '#/components/schemas/Pet/properties/owner/$ref',
    says: 'points at nothing',
  },
  {
    what: 'a reference with a broken escape',
    change: (s) => {
      s['components'].schemas.Pet.properties.owner.$ref = '#/components/%E0%A4%A';
    },
    field: '#/components/schemas/Pet/properties/owner/$ref',
    says: 'not a JSON pointer',
  },
  {
    what: 'a reference that is a number',
    change: (s) => {
      s['components'].schemas.Pet.properties.owner = { allOf: [{ $ref: 5 }] };
    },
    field: '#/components/schemas/Pet/properties/owner/allOf/0',
    says: 'additional properties',
  },
  {
    what: 'references in a circle',
    change: (s) => {
      Object.assign(s['components'].schemas, { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } });
    },
    field: '#/components/schemas/A',
    says: 'circle',
  },
  {
    what: 'a scheme that is not declared',
    change: (s) => {
      s['paths']['/health'].get.security = [{ other: [] }];
    },
    field: '#/paths/~1health/get/security/0/other',
    says: 'allowed: key, basic, oauth',
  },
  {
    what: 'a scheme of the whole that is not declared',
    change: (s) => {
      s['security'] = [{ other: [] }];
    },
    field: '#/security/0/other',
    says: 'not declared',
  },
  {
    what: 'two paths for the same requests',
    change: (s) => {
      s['paths']['/pets/{name}'] = { get: { responses: { 204: { description: '' } } } };
    },
    field: '#/paths/~1pets~1{name}',
    says: '"/pets/{id}"',
  },
];

test.each(BROKEN)('$what is refused at $field', async ({ change, field, says }) => {
  const specification = petSpecification();
  change(specification);
  const fault = await readSpec(JSON.stringify(specification)).then(
    () => null,
    (error) => error,
  );
  expect(fault).toMatchObject({
    name: 'SpecFault',
    errors: expect.arrayContaining([{ field: `content${field}`, message: expect.stringContaining(says) }]),
  });
});

test.each([
  ['that is empty', '', 'it is not an object'],
  ['of one word', 'text', 'it is not an object'],
  ['that is a list', '[]', 'it is not an object'],
  ['that is null', 'null', 'it is not an object'],
  ['that ends too early', 'a: {b: [1', 'line 1, column'],
  ['with a key twice', 'a: 1\nb: 2\na: 3', 'line 3, column 1: the key "a" is there twice'],
  ['in braces with a key twice and nothing at its end', '{"a": 1,\n "a": }', 'line 2, column 2: the key "a" is there twice'],
  ['in JSON with a key twice', '{"a": 1, "b": {"c": 1, "c": 2}}', 'the key "c" is there twice in one object'],
  ['in JSON with a comment', '{\n  // a\n  "openapi": "3.0.0"}', 'line 2, column 3: it is JSON with comments; allowed: JSON without'],
  ['in JSON with a comment of another kind', '{"openapi": /* a " b */ "3.0.0"}', 'line 1, column 13: it is JSON with comments'],
  ['in JSON with a comment before it', '/* a */\n{"openapi": "3.0.0"}', 'line 1, column 1: it is JSON with comments'],
  ['in JSON with a comment behind it', '{"a": "// /* \\" //"}\r\n// b', 'line 2, column 1: it is JSON with comments'],
  ['in JSON with a comment and a comma too many', '{"a": [1, // b\n 2,],\n}', 'line 1, column 11: it is JSON with comments'],
  ['with a comment that has no end', '{"a": 1 /* b', 'line 1'],
  ['of slashes and stars', `{${'/*'.repeat(500_000)}`, 'line 1'],
  ['of quotes', `{${'\\"'.repeat(500_000)}`, 'line 1'],
  ['with two documents', 'a: 1\n---\nb: 2', 'content: line 2, column 1: a second YAML document begins here; allowed: one specification'],
  ['with two documents behind a mark', '---\na: 1\n...\nb: 2', 'line 4, column 1: a second YAML document begins here'],
  ['with an empty document at its end', '---\na: 1\n---\n', 'line 3, column 1: a second YAML document begins here'],
  ['with two documents of JSON', '{"a":1}\n---\n{"b":2}', 'line 2, column 1: a second YAML document begins here'],
  ['with an alias of nothing', 'a: *b', 'Unresolved alias'],
  ['with an alias inside of itself', 'a: &a [1, *a]', 'an alias stands for something that it is part of'],
  ['with bytes', 'a: !!binary aGk=', 'tagged as something that JSON does not have'],
  ['with no number', 'a: .nan', 'NaN is not a JSON value'],
  ['of brackets alone', '['.repeat(100_000), 'line 1'],
  ['nested too deep', `{"a": ${'['.repeat(200)}${']'.repeat(200)}}`, 'nested more than 100 deep'],
])('a text %s is refused', async (_, text, says) => {
  await expect(readSpec(text)).rejects.toMatchObject({ name: 'SpecFault', message: expect.stringContaining(says) });
});

test('many faults are told at once, but not more than twenty', async () => {
  const specification = petSpecification();
  specification['components'].schemas = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`S${n}`, { $ref: `#/none/${n}` }]));
  await expect(readSpec(JSON.stringify(specification))).rejects.toMatchObject({ errors: { length: 20 } });
});

test('what could have been a reference and is none is not a fault of its own', async () => {
  const specification = petSpecification();
  specification['paths']['/health'].get.responses = { 200: {} };
  const fault = await readSpec(JSON.stringify(specification)).then(
    () => null,
    (error) => error,
  );
  const message = "must have required property 'description'";
  expect(fault.errors).toEqual([{ field: 'content#/paths/~1health/get/responses/200', message }]);
});
