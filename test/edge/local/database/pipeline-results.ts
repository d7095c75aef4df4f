import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { PIPELINE, PIPELINE_INPUT } from '../../../../edge/operations/database.ts';
import type { DatabaseApp } from './database-app.ts';

const ajv = new Ajv2020({ strict: false });
const isAnswer = ajv.compile(PIPELINE);
const isRequest = ajv.compile(PIPELINE_INPUT);

/** An `execute` request. */
export const execute = (sql: string, stmt: object = {}) => ({ type: 'execute', stmt: { sql, ...stmt } });

/** The results of a pipeline that is answered, in a stream of its own; request and answer are held to the operation's schemas. */
export async function pipelineResults(app: DatabaseApp, requests: readonly unknown[]) {
  const request = { requests: [...requests, { type: 'close' }] };
  const { status, body } = await app.pipeline(app.full, request);
  expect([status, isRequest(request), isAnswer(body), isAnswer.errors]).toEqual([200, true, true, null]);
  return body.results.slice(0, -1);
}

/** The code of each error, and `ok` for what is none. */
export const codes = (results: readonly { readonly error?: { readonly code: string } }[]): readonly string[] =>
  results.map(({ error }) => error?.code ?? 'ok');
