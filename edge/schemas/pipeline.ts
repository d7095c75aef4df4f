import type { JsonSchema } from '../operation.ts';
import { COUNT, exactly, input, listOf, NULLABLE_TEXT, NUMBER, TEXT, YES_OR_NO } from './object-schema.ts';

const nullable = (schema: JsonSchema): JsonSchema => ({ oneOf: [schema, { type: 'null' }] });

/** Hrana 2 over HTTP. Each request's own fields are judged one by one, so that a wrong one fails alone. */
export const PIPELINE_INPUT = input(
  {
    baton: { ...NULLABLE_TEXT, description: 'Of the answer before, to go on with its stream; left out: a new stream' },
    requests: {
      ...listOf(input({ type: TEXT }, ['type'])),
      description:
        'Hrana 2: execute {stmt}, batch {batch: {steps}}, sequence {sql}, describe {sql}, store_sql {sql_id, sql}, close_sql {sql_id}, get_autocommit, close',
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
