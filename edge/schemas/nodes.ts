import { COUNT, exactly, listOf, NULLABLE_TEXT, queryOf, TEXT } from './object-schema.ts';

export const NODES_QUERY = queryOf({
  nextCursor: { ...TEXT, description: 'The cursor of the page before' },
  limit: { type: 'integer', minimum: 1, maximum: 1000, default: 20, description: 'At most so many' },
});

export const NODES = exactly({
  items: listOf(TEXT),
  meta: exactly({ totalItems: COUNT }),
  cursor: { ...NULLABLE_TEXT, description: 'Null on the last page' },
});
