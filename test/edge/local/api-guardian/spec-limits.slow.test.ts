import { describe, expect, test } from 'vitest';
import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';
import { answering, type Specification } from './specification.ts';

const many = <T>(count: number, of: (index: number) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, of(index)]));

const TEXT = { type: 'string' };

function withEndpoints(count: number): Specification {
  const operation = { responses: { 204: { description: '' } } };
  return { ...answering(TEXT), paths: Object.fromEntries(Array.from({ length: count }, (_, index) => [`/p${index}`, { get: operation }])) };
}

/** Schemas within schemas, the innermost included. */
function nested(depth: number): unknown {
  return depth === 1 ? TEXT : { type: 'array', items: nested(depth - 1) };
}

const withPatterns = (length: number): Specification =>
  answering({
    type: 'object',
    properties: { a: { type: 'string', pattern: 'a'.repeat(1_000) }, b: { type: 'string', pattern: 'b'.repeat(length - 1_000) } },
  });

/** Returns a schema with so many nodes, itself included, in groups small enough for the other limits. */
function withNodes(count: number): unknown {
  const groups = Array.from({ length: Math.ceil((count - 1) / 129) }, (_, index) => Math.min(128, count - 2 - index * 129));
  return { oneOf: groups.map((fields) => ({ type: 'object', properties: many(fields, () => TEXT) })) };
}

/** Each schema has two references to the next one, so the last one is used 2^levels times. */
const doubling = (levels: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/components/schemas/L${level + 1}` };
      return [`L${level}`, { type: 'object', properties: { a: next, b: next } }];
    }).concat([[`L${levels}`, TEXT as never]]),
  );

describe('a specification with', () => {
  test.each<[string, Specification, Specification, string]>([
    ['50 endpoints', withEndpoints(50), withEndpoints(51), 'content#/paths: there are 51 endpoints; allowed: at most 50 (maxEndpoints)'],
    [
      '128 fields',
      answering({ type: 'object', properties: many(128, () => TEXT) }),
      answering({ type: 'object', properties: many(129, () => TEXT) }),
      'schema/properties: there are 129 properties; allowed: at most 128 (maxFieldsPerType)',
    ],
    [
      '16 levels',
      answering(nested(16)),
      answering(nested(17)),
      'items: it is nested 17 schemas deep; allowed: at most 16 (maxNestingDepth)',
    ],
    [
      '8,192 schemas',
      answering(withNodes(8_192)),
      answering(withNodes(8_193)),
      'more than 8192 schemas; allowed: at most that many (maxTotalSchemaNodes)',
    ],
    [
      '16,384 characters of patterns',
      withPatterns(16_384),
      withPatterns(16_385),
      'content#/paths/~1a/get/responses/200/content/application~1json/schema/properties/b/pattern: ' +
        'with this the patterns have more than 16384 characters',
    ],
    [
      '128 fields in a schema that nothing uses',
      answering(TEXT, { Unused: { type: 'object', properties: many(128, () => TEXT) } }),
      answering(TEXT, { Unused: { type: 'object', properties: many(129, () => TEXT) } }),
      'content#/components/schemas/Unused/properties: there are 129 properties',
    ],
  ])('%s is taken, and with one more refused', async (_, most, tooMany, says) => {
    await expect(readSpec(JSON.stringify(most))).resolves.toBeTruthy();
    await expect(readSpec(JSON.stringify(tooMany))).rejects.toMatchObject({ name: 'SpecFault', message: expect.stringContaining(says) });
  });

  test('parameters with schemas of their own is counted with them', async () => {
    const specification = answering(TEXT);
    specification['paths']['/a'].get.parameters = [{ name: 'q', in: 'query', schema: nested(17) }];
    await expect(readSpec(JSON.stringify(specification))).rejects.toThrow('maxNestingDepth');
  });
});

describe('a bomb', () => {
  test('of references that double is refused once there are too many schemas', async () => {
    await expect(readSpec(JSON.stringify(answering({ $ref: '#/components/schemas/L0' }, doubling(10))))).resolves.toBeTruthy();
    await expect(readSpec(JSON.stringify(answering({ $ref: '#/components/schemas/L0' }, doubling(15))))).rejects.toThrow(
      'maxTotalSchemaNodes',
    );
  });

  test('of aliases that multiply is refused once there are too many values', async () => {
    const levels = Array.from({ length: 9 }, (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(10)}]`);
    await expect(readSpec(['l0: &l0 [1]', ...levels].join('\n'))).rejects.toThrow(
      'more than 500000 values once its aliases are written out',
    );
  });

  test('of a long enumeration that is used many times is refused once too much is written', async () => {
    const long = { type: 'string', enum: Array.from({ length: 2_000 }, (_, index) => `value ${index}`) };
    const schema = { type: 'object', properties: many(100, () => ({ $ref: '#/components/schemas/Long' })) };
    await expect(readSpec(JSON.stringify(answering(schema, { Long: long })))).rejects.toThrow('have more than 2000000 characters');
  });

  test('of references in a long chain is refused', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`C${index}`, { $ref: `#/components/schemas/C${index + 1}` }]),
    );
    await expect(readSpec(JSON.stringify(answering(TEXT, { ...chain, C1000: TEXT })))).rejects.toThrow('more than 32 times');
  });

  test('of one map with very many keys is read in a straight line', async () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}: 1`);
    await expect(readSpec(keys.join('\n'))).rejects.toThrow('content#/openapi');
  });
});
