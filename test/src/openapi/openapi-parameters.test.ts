import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMPANIONS, OPERATIONS } from '../../../edge/operations/operations.ts';
import { eventLine, ingest } from '../running-app.ts';
import { DESCRIBED_OPERATIONS, type DescribedOperation, undescribed } from './document-check.ts';
import { documentedCall } from './documented-call.ts';
import { type DrivenAnswer, send } from './driven-answer.ts';
import { type Site, startSite } from './site.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
  // A feed that waits has something to answer at once.
  await ingest(site, eventLine({ action: 'blocked' }));
});

afterAll(() => site.stop());

interface Range {
  readonly type?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
}

/** Every parameter of the document that `isWanted` takes. */
function parameters(isWanted: (schema: Range) => boolean) {
  return DESCRIBED_OPERATIONS.flatMap((operation) =>
    (operation.parameters ?? [])
      .filter(({ schema }) => isWanted(schema as Range))
      .map(({ name, schema }) => [operation.operationId, name, operation, schema as Range] as const),
  );
}

/** The documented call with another value for one of its parameters. Its zone is in no part of the zones but one, so all are asked for. */
async function ask(operation: DescribedOperation, name: string, value: string): Promise<DrivenAnswer> {
  const changed = (operation.parameters ?? [])
    .filter((parameter) => parameter.name !== 'part' || name === 'part')
    .map((parameter) => (parameter.name === name ? { ...parameter, example: value } : parameter));
  const [type = 'application/json'] = Object.keys(operation.requestBody?.content ?? {});
  return send(site, documentedCall({ ...operation, parameters: changed }, type));
}

/** Whether the value was refused for what it is; that there is no such thing, or that the rest of the example is old, is another matter. */
async function isRefused(operation: DescribedOperation, name: string, value: string): Promise<boolean> {
  const answer = await ask(operation, name, value);
  expect([name, value, undescribed(operation, answer)]).toEqual([name, value, []]);
  return answer.status === 400 && (operation.operationId === 'getApiGuardianMetrics' || answer.text.includes(name));
}

/** A time has no ends in the document: they move with the clock. */
const hasEnds = ({ type, minimum, maximum }: Range): boolean => type === 'integer' && minimum !== undefined && maximum !== undefined;

describe('a number ends where the document says', () => {
  test.each(parameters(hasEnds))('%s: %s', async (_id, name, operation, { minimum = Number.NaN, maximum = Number.NaN }) => {
    const values = [minimum - 1, minimum, maximum, maximum + 1].map(String);
    const refused: boolean[] = [];
    for (const value of values) refused.push(await isRefused(operation, name, value));
    expect(refused).toEqual([true, false, false, true]);
  });
});

describe('a choice has the values that the document says', () => {
  test.each(parameters((schema) => schema.enum !== undefined))('%s: %s', async (_id, name, operation, schema) => {
    for (const value of schema.enum ?? []) expect([value, await isRefused(operation, name, value)]).toEqual([value, false]);
    expect(await isRefused(operation, name, 'nonsense')).toBe(true);
  });
});

describe('a parameter may be empty where the document says so, and counts as absent', () => {
  const maybeEmpty = DESCRIBED_OPERATIONS.flatMap((operation) =>
    (operation.parameters ?? [])
      .filter(({ allowEmptyValue }) => allowEmptyValue === true)
      .map(({ name }) => [operation.operationId, name, operation] as const),
  );

  test.each(maybeEmpty)('%s: %s', async (_id, name, operation) => {
    expect((await ask(operation, name, '')).status).toBe(200);
  });

  test('and it says so of those that may be left out', () => {
    const names = maybeEmpty.map(([id, name]) => `${id} ${name}`);
    expect(names).toEqual([
      'getApplicationStatistics fromDate',
      'getApplicationStatistics toDate',
      'listNodes nextCursor',
      'listNodes limit',
    ]);
  });
});

/** Whether an operation passes over the type of its body: shippers to Splunk send any. */
function takesAnyType({ path, requestBody }: DescribedOperation): boolean {
  return path.startsWith('/services/collector') && requestBody !== undefined;
}

/** The operations that take a body without a type. */
const UNTYPED: readonly string[] = [
  'ingestEvents',
  ...DESCRIBED_OPERATIONS.filter(takesAnyType).map(({ operationId }) => operationId),
  ...[...OPERATIONS, ...COMPANIONS].filter(({ untypedIs }) => untypedIs !== null).map(({ name }) => name),
];

describe('a body of another type is refused, with the types of the document', () => {
  const taking = DESCRIBED_OPERATIONS.filter(({ requestBody }) => requestBody !== undefined);

  const choosing = taking.filter((operation) => !takesAnyType(operation));
  test.each(choosing.map((operation) => [operation.operationId, operation] as const))('%s', async (_id, operation) => {
    const types = Object.keys(operation.requestBody?.content ?? {});
    const call = documentedCall(operation, types[0] ?? '');
    const answer = await send(site, { ...call, headers: { 'content-type': 'text/csv' } });
    expect([answer.status, undescribed(operation, answer)]).toEqual([415, []]);
    expect(answer.text).toContain(`allowed: ${types.join(', ')}`);
  });

  test.each(taking.map((operation) => [operation.operationId, operation] as const))(
    '%s: one without a type, unless it may be left out',
    async (id, operation) => {
      const call = documentedCall(operation, Object.keys(operation.requestBody?.content ?? {})[0] ?? '');
      // The body is bytes, because fetch adds a type to a text.
      const { status } = await fetch(`${site.url}${call.path}`, { method: call.method, body: new TextEncoder().encode(call.body) });
      expect([id, status === 415]).toEqual([id, !UNTYPED.includes(operation.operationId)]);
    },
  );
});
