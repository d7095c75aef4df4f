import { describe, expect, test } from 'vitest';
import { OPENAPI_DOCUMENT } from '../../../src/openapi/openapi-document.ts';

interface Place {
  readonly path: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Below these, everything is data, or a schema that says what a value is not. */
const SKIPPED = new Set(['example', 'examples', 'enum', 'default', 'const', 'not']);

function placesIn(value: unknown, path = ''): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, inner]) => (SKIPPED.has(key) ? [] : placesIn(inner, `${path}/${key}`)));
  return Array.isArray(value) ? below : [{ path, schema: value as Place['schema'] }, ...below];
}

function schemasWith(isAvoided: (schema: Place['schema']) => boolean): readonly string[] {
  return placesIn(OPENAPI_DOCUMENT)
    .filter(({ schema }) => isAvoided(schema))
    .map(({ path }) => path);
}

const branchesOf = ({ anyOf, oneOf }: Place['schema']): readonly Place['schema'][] => (anyOf ?? oneOf ?? []) as readonly Place['schema'][];

const typesOf = ({ type }: Place['schema']): readonly unknown[] => (Array.isArray(type) ? type : []);

describe('generators of clients, which .ci/generated-clients runs, find no schema', () => {
  test('of two types, null aside: oapi-codegen refuses it', () => {
    expect(schemasWith((schema) => typesOf(schema).filter((type) => type !== 'null').length > 1)).toEqual([]);
  });

  test('of one truth value: openapi-python-client writes code of it that is none', () => {
    expect(schemasWith(({ const: value }) => typeof value === 'boolean')).toEqual([]);
  });

  test('without a name beside null alone: openapi-generator 7.14 stops', () => {
    const hasNull = (schema: Place['schema']): boolean => branchesOf(schema).length === 2 && branchesOf(schema)[1]?.['type'] === 'null';
    expect(schemasWith((schema) => hasNull(schema) && branchesOf(schema)[0]?.['$ref'] === undefined)).toEqual([]);
  });

  test('of null among branches of oneOf: openapi-generator 7.14 names a type that it does not make', () => {
    expect(schemasWith(({ oneOf }) => (oneOf as Place['schema'][] | undefined)?.some(({ type }) => type === 'null') === true)).toEqual([]);
  });

  test('of null alone as a property: openapi-generator 7.14 stops where it stands in a branch', () => {
    const properties = (schema: Place['schema']): Place['schema'][] =>
      Object.values((schema['properties'] ?? {}) as Record<string, Place['schema']>);
    expect(schemasWith((schema) => properties(schema).some(({ type }) => type === 'null'))).toEqual([]);
  });
});
