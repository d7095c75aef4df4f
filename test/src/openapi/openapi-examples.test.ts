import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../edge/operations/operations.ts';
import { OPENAPI_DOCUMENT } from '../../../src/openapi/openapi-document.ts';
import { DESCRIBED_OPERATIONS, faultsOf, type MediaType, valuesIn } from './document-check.ts';

/** Every body of the document: where it is, its type, schema and examples. */
const BODIES = DESCRIBED_OPERATIONS.flatMap(({ operationId, requestBody, responses }) => [
  ...Object.entries(requestBody?.content ?? {}).map(([type, media]) => [`the request of ${operationId}`, type, media] as const),
  ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.entries(content).map(([type, media]) => [`${operationId} ${status}`, type, media] as const),
  ),
]);

/** The values of an example; those of lines are written as the text that they are. */
function valuesOf(type: string, { schema }: MediaType, value: unknown): readonly unknown[] {
  return typeof value === 'string' ? valuesIn(type, schema, value) : [value];
}

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(JSON.stringify(OPENAPI_DOCUMENT)))).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('refers to nothing that it does not have', () => {
    const names = new Set(Object.keys(OPENAPI_DOCUMENT.components.schemas));
    const used = new Set(
      [...JSON.stringify(OPENAPI_DOCUMENT).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name),
    );
    expect([...used].filter((name) => !names.has(name))).toEqual([]);
    expect([...names].filter((name) => !used.has(name))).toEqual([]);
  });

  test('names each operation once, under a tag that it has', () => {
    const ids = DESCRIBED_OPERATIONS.map(({ operationId }) => operationId);
    expect(ids.length).toBe(new Set(ids).size);
    const tags = new Set(DESCRIBED_OPERATIONS.flatMap((operation) => operation.tags));
    expect([...tags].toSorted()).toEqual(OPENAPI_DOCUMENT.tags.map(({ name }) => name).toSorted());
  });

  test('gives every operation of the specification its number, as the configuration wants it', () => {
    const numbers = DESCRIBED_OPERATIONS.map(({ description = '' }) => Number(/^Operation (\d+)\./.exec(description)?.[1])).filter(
      Number.isFinite,
    );
    expect(numbers.toSorted((one, other) => one - other)).toEqual([1, ...OPERATIONS.map(({ number }) => number)]);
  });

  test('says what the credentials of every operation are', () => {
    const schemes = Object.keys(OPENAPI_DOCUMENT.components.securitySchemes);
    for (const { operationId, security = OPENAPI_DOCUMENT.security } of DESCRIBED_OPERATIONS) {
      for (const name of security.flatMap((wanted) => Object.keys(wanted)))
        expect([operationId, schemes]).toEqual([operationId, expect.arrayContaining([name])]);
    }
  });
});

describe('the examples', () => {
  test.each(BODIES)('of %s as %s are there and fit its schema', (_where, type, media) => {
    const examples = Object.values(media.examples ?? {});
    expect(examples.length).toBeGreaterThan(0);
    for (const { value } of examples)
      for (const one of valuesOf(type, media, value)) expect([one, faultsOf(media.schema, one)]).toEqual([one, []]);
  });

  test('of parameters fit, and those that must be given have one', () => {
    for (const { operationId, parameters = [] } of DESCRIBED_OPERATIONS) {
      for (const { name, required, schema, example } of parameters) {
        if (required === true) expect([operationId, name, example]).not.toEqual([operationId, name, undefined]);
        if (example !== undefined) expect([operationId, name, faultsOf(schema, example)]).toEqual([operationId, name, []]);
      }
    }
  });
});
