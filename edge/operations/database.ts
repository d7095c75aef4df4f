import { COUNT, exactly, input, type JsonSchema, listOf, NULLABLE_TEXT, NUMBER, TEXT, YES_OR_NO } from './json-schema.ts';
import { defineOperation, LARGE_BODY_BYTES, type OperationGroup } from './operation.ts';

const nullable = (schema: JsonSchema): JsonSchema => ({ oneOf: [schema, { type: 'null' }] });

/** Hrana 2 over HTTP. The database checks the fields of each request, so that a wrong one fails alone. */
export const PIPELINE_INPUT = input(
  {
    baton: { ...NULLABLE_TEXT, description: 'Of the answer before, to go on with its stream; left out: a new stream' },
    requests: {
      ...listOf(input({ type: TEXT }, ['type'])),
      description:
        'Hrana 2: execute {stmt}, batch {batch: {steps}}, sequence {sql}, describe {sql}, store_sql {sql_id, sql}, close_sql {sql_id}, ' +
        'get_autocommit, close',
    },
  },
  ['requests'],
);

const VALUE: JsonSchema = {
  oneOf: [
    exactly({ type: { const: 'null' } }),
    exactly({ type: { const: 'integer' }, value: { type: 'string', pattern: '^-?\\d+$' } }),
    exactly({ type: { const: 'float' }, value: NUMBER }),
    exactly({ type: { const: 'text' }, value: TEXT }),
    exactly({ type: { const: 'blob' }, base64: TEXT }),
  ],
};

const COLUMNS = listOf(exactly({ name: NULLABLE_TEXT, decltype: NULLABLE_TEXT }));

const STATEMENT_RESULT = exactly({
  cols: COLUMNS,
  rows: listOf(listOf(VALUE)),
  affected_row_count: COUNT,
  last_insert_rowid: NULLABLE_TEXT,
  rows_read: COUNT,
  rows_written: COUNT,
  query_duration_ms: NUMBER,
});

const ERROR = exactly({ message: TEXT, code: NULLABLE_TEXT });

const BATCH_RESULT = exactly({ step_results: listOf(nullable(STATEMENT_RESULT)), step_errors: listOf(nullable(ERROR)) });

const DESCRIPTION = exactly({
  params: listOf(exactly({ name: NULLABLE_TEXT })),
  cols: COLUMNS,
  is_explain: YES_OR_NO,
  is_readonly: YES_OR_NO,
});

const RESPONSE: JsonSchema = {
  oneOf: [
    exactly({ type: { const: 'execute' }, result: STATEMENT_RESULT }),
    exactly({ type: { const: 'batch' }, result: BATCH_RESULT }),
    exactly({ type: { const: 'describe' }, result: DESCRIPTION }),
    exactly({ type: { const: 'get_autocommit' }, is_autocommit: YES_OR_NO }),
    exactly({ type: { type: 'string', enum: ['sequence', 'store_sql', 'close_sql', 'close'] } }),
  ],
};

const RESULT: JsonSchema = {
  oneOf: [exactly({ type: { const: 'ok' }, response: RESPONSE }), exactly({ type: { const: 'error' }, error: ERROR })],
};

export const PIPELINE = exactly({
  baton: { ...NULLABLE_TEXT, description: 'For the next request of the stream; null where it is closed' },
  base_url: NULLABLE_TEXT,
  results: { ...listOf(RESULT), description: 'One for each request, also after one that failed' },
});

const PROTOCOL = exactly({ version: { const: 2 } });

const SELECT = {
  sql: 'SELECT ? AS number, ? AS word',
  args: [
    { type: 'integer', value: '42' },
    { type: 'text', value: 'edge' },
  ],
};

export const DATABASE: OperationGroup = {
  tag: 'Database',
  about: 'SQL over HTTP',
  schemas: { PipelineRequest: PIPELINE_INPUT, PipelineResponse: PIPELINE, DatabaseProtocol: PROTOCOL },
  operations: [
    defineOperation({
      number: 14,
      name: 'databasePipeline',
      summary: 'Run SQL statements on the database (Hrana 2 over HTTP)',
      method: 'POST',
      path: '/v2/pipeline',
      upstream: 'database',
      key: 'bearer',
      errorShape: 'pipeline',
      params: {},
      body: PIPELINE_INPUT,
      bodyLimitBytes: LARGE_BODY_BYTES,
      // Clients in Go and Rust send no type.
      untypedIs: 'application/json',
      answer: PIPELINE,
      addressMember: 'base_url',
      errors: {
        401: { key: 'TOKEN_MISSING', message: 'an access token is required: Authorization: Bearer <token>' },
        403: { key: 'SQLITE_READONLY', message: 'the token is Read Only: nothing was written' },
      },
      idempotent: false,
      deadlines: { headersMs: 45_000, bodyMs: 30_000 },
      // Two statements, one of them wrong, and the end of the stream.
      example: {
        body: { requests: [{ type: 'execute', stmt: SELECT }, { type: 'execute', stmt: { sql: 'SELECT nothing' } }, { type: 'close' }] },
        answer: {
          baton: null,
          base_url: null,
          results: [
            {
              type: 'ok',
              response: {
                type: 'execute',
                result: {
                  cols: [
                    { name: 'number', decltype: null },
                    { name: 'word', decltype: null },
                  ],
                  rows: [
                    [
                      { type: 'integer', value: '42' },
                      { type: 'text', value: 'edge' },
                    ],
                  ],
                  affected_row_count: 0,
                  last_insert_rowid: null,
                  rows_read: 1,
                  rows_written: 0,
                  query_duration_ms: 0.927,
                },
              },
            },
            {
              type: 'error',
              error: { message: 'the SQL text could not be parsed: near "nothing": syntax error', code: 'SQL_PARSE_ERROR' },
            },
            { type: 'ok', response: { type: 'close' } },
          ],
        },
      },
    }),
  ],
  companions: [
    defineOperation({
      number: 14,
      name: 'getDatabaseProtocol',
      summary: 'See whether version 2 of the protocol is spoken',
      method: 'GET',
      path: '/v2',
      upstream: 'database',
      key: 'none',
      errorShape: 'pipeline',
      params: {},
      answer: PROTOCOL,
      errorStatuses: [403, 502, 503, 504],
      idempotent: true,
      example: { answer: { version: 2 } },
    }),
  ],
};
