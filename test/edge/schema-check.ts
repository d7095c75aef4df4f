import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { JsonSchema } from '../../edge/operations/json-schema.ts';
import { operation } from '../../edge/operations/operations.ts';

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/);

/** Holds a body to a schema; says everything that is wrong. */
function expectFits(schema: JsonSchema, body: unknown): void {
  const validate = ajv.compile(schema);
  expect(validate(body) ? [] : validate.errors, JSON.stringify(body).slice(0, 2000)).toEqual([]);
}

/** Holds an answer to what its operation's table row says of that status. */
export function expectAnswer(number: number, status: number, body: unknown): void {
  const schema = operation(number).responses[status];
  expect(schema, `operation ${number} is not said to answer ${status}`).toBeDefined();
  if (schema === null) expect(body).toBe('');
  else if (schema !== undefined) expectFits(schema, body);
}
