import { COUNT, exactly, input, type JsonSchema, listOf, NULLABLE_TEXT, NUMBER, nullable, TEXT, YES_OR_NO } from './json-schema.ts';
import { defineOperation, LARGE_BODY_BYTES, type Operation, type OperationGroup } from './operation.ts';

const BATON_INPUT = { ...NULLABLE_TEXT, description: 'Of the answer before, to go on with its stream; left out: a new stream' };

/** Hrana 2 and 3 over HTTP. The database checks the fields of each request, so that a wrong one fails alone. */
export const PIPELINE_INPUT = input(
  {
    baton: BATON_INPUT,
    requests: {
      ...listOf(input({ type: TEXT }, ['type'])),
      description:
        'Hrana 2 and 3: execute {stmt}, batch {batch: {steps}}, sequence {sql}, describe {sql}, store_sql {sql_id, sql}, ' +
        'close_sql {sql_id}, get_autocommit, close',
    },
  },
  ['requests'],
);

/** A cursor of Hrana 3 over HTTP. */
const CURSOR_INPUT = input(
  { baton: BATON_INPUT, batch: { ...input({ steps: listOf(input({}, [])) }, ['steps']), description: 'Its steps are {stmt, condition?}' } },
  ['batch'],
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

const BATON = { ...NULLABLE_TEXT, description: 'For the next request of the stream; null where it is closed' };

export const PIPELINE = exactly({
  baton: BATON,
  base_url: NULLABLE_TEXT,
  results: { ...listOf(RESULT), description: 'One for each request, also after one that failed' },
});

/** The media type of the answer of a cursor: lines of JSON. */
export const CURSOR_TYPE = 'application/x-ndjson';

const STEP = { type: 'integer', minimum: 0, description: 'Of the batch, from 0 on' } as const;

/** A line of the answer of a cursor. */
export const CURSOR_LINE: JsonSchema = {
  description: 'The first line has the baton; of each step that runs there is step_begin, row for each row, and step_end, or step_error',
  oneOf: [
    exactly({ baton: BATON, base_url: NULLABLE_TEXT }),
    exactly({ type: { const: 'step_begin' }, step: STEP, cols: COLUMNS }),
    exactly({ type: { const: 'row' }, row: listOf(VALUE) }),
    exactly({ type: { const: 'step_end' }, affected_row_count: COUNT, last_insert_rowid: NULLABLE_TEXT }),
    exactly({ type: { const: 'step_error' }, step: STEP, error: ERROR }),
    exactly({ type: { const: 'error' }, error: ERROR }),
  ],
};

const PROTOCOL = exactly({ version: { type: 'integer', enum: [2, 3] } });

const SELECT = {
  sql: 'SELECT ? AS number, ? AS word',
  args: [
    { type: 'integer', value: '42' },
    { type: 'text', value: 'edge' },
  ],
};

const ERRORS: Operation['errors'] = {
  401: { key: 'TOKEN_MISSING', message: 'an access token is required: Authorization: Bearer <token>' },
  403: { key: 'SQLITE_READONLY', message: 'the token is Read Only: nothing was written' },
};

/** What all calls that run statements have in common. */
const STATEMENTS = {
  number: 14,
  method: 'POST',
  upstream: 'database',
  key: 'bearer',
  errorShape: 'pipeline',
  params: {},
  bodyLimitBytes: LARGE_BODY_BYTES,
  // `fetch` gives a text this type, with a charset.
  bodyTypes: ['application/json', 'text/plain'],
  // Clients in Go and Rust send no type.
  untypedIs: 'application/json',
  addressMember: 'base_url',
  errors: ERRORS,
  idempotent: false,
  deadlines: { headersMs: 45_000, bodyMs: 30_000 },
} as const;

/** What all calls that ask for a version of the protocol have in common. */
const VERSION = {
  number: 14,
  method: 'GET',
  upstream: 'database',
  key: 'none',
  errorShape: 'pipeline',
  params: {},
  answer: PROTOCOL,
  errorStatuses: [403, 502, 503, 504],
  idempotent: true,
} as const;

// Two statements, one of them wrong, and the end of the stream.
const PIPELINE_EXAMPLE = {
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
};

export const DATABASE: OperationGroup = {
  tag: 'Database',
  about: 'SQL over HTTP',
  schemas: {
    PipelineRequest: PIPELINE_INPUT,
    PipelineResponse: PIPELINE,
    CursorRequest: CURSOR_INPUT,
    CursorLine: CURSOR_LINE,
    DatabaseProtocol: PROTOCOL,
  },
  operations: [
    defineOperation({
      ...STATEMENTS,
      name: 'databasePipeline',
      summary: 'Run SQL statements on the database (Hrana 2 over HTTP)',
      path: '/v2/pipeline',
      body: PIPELINE_INPUT,
      answer: PIPELINE,
      example: PIPELINE_EXAMPLE,
    }),
  ],
  companions: [
    defineOperation({
      ...STATEMENTS,
      name: 'databasePipelineOfVersion3',
      summary: 'Run SQL statements on the database (Hrana 3 over HTTP, which has the same pipelines)',
      path: '/v3/pipeline',
      body: PIPELINE_INPUT,
      answer: PIPELINE,
      example: PIPELINE_EXAMPLE,
    }),
    defineOperation({
      ...STATEMENTS,
      name: 'databaseCursor',
      summary: 'Run a batch of SQL statements, answered in lines (Hrana 3 over HTTP)',
      path: '/v3/cursor',
      body: CURSOR_INPUT,
      answer: CURSOR_LINE,
      answerType: CURSOR_TYPE,
      example: {
        body: { batch: { steps: [{ stmt: SELECT }, { stmt: { sql: 'SELECT nothing' } }] } },
        // One line of the answer.
        answer: { type: 'row', row: SELECT.args },
      },
    }),
    defineOperation({
      ...VERSION,
      name: 'getDatabaseProtocol',
      summary: 'See whether version 2 of the protocol is spoken',
      path: '/v2',
      example: { answer: { version: 2 } },
    }),
    defineOperation({
      ...VERSION,
      name: 'getDatabaseProtocol3',
      summary: 'See whether version 3 of the protocol is spoken',
      path: '/v3',
      example: { answer: { version: 3 } },
    }),
  ],
};
