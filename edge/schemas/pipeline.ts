import { exactly, input, listOf, NULLABLE_TEXT, TEXT } from './object-schema.ts';

/** Hrana 2 over HTTP. Each request's own fields are judged one by one, so that a wrong one fails alone. */
export const PIPELINE_INPUT = input(
  {
    baton: NULLABLE_TEXT,
    requests: listOf(input({ type: TEXT }, ['type'])),
  },
  ['requests'],
);

const RESULT = {
  oneOf: [
    exactly({ type: { const: 'ok' }, response: input({ type: TEXT }, ['type']) }),
    exactly({ type: { const: 'error' }, error: exactly({ message: TEXT, code: NULLABLE_TEXT }) }),
  ],
};

export const PIPELINE = exactly({ baton: NULLABLE_TEXT, base_url: NULLABLE_TEXT, results: listOf(RESULT) });
