import type { OperationExample } from '../operation.ts';

const SELECT = {
  sql: 'SELECT ? AS number, ? AS word',
  args: [
    { type: 'integer', value: '42' },
    { type: 'text', value: 'edge' },
  ],
};

/** Two statements, one of them wrong, and the end of the stream. */
export const PIPELINE_EXAMPLE: OperationExample = {
  params: {},
  query: {},
  body: { requests: [{ type: 'execute', stmt: SELECT }, { type: 'execute', stmt: { sql: 'SELECT nothing' } }, { type: 'close' }] },
  status: 200,
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
      { type: 'error', error: { message: 'the SQL text could not be parsed: near "nothing": syntax error', code: 'SQL_PARSE_ERROR' } },
      { type: 'ok', response: { type: 'close' } },
    ],
  },
};
