import { COUNT, exactly, listOf, NULLABLE_TEXT, queryOf, TEXT } from './object-schema.ts';

export const NODES_QUERY = queryOf({
  nextCursor: TEXT,
  limit: { type: 'integer', minimum: 1, maximum: 1000, default: 20 },
});

/** The cursor is null on the last page. */
export const NODES = exactly({ items: listOf(TEXT), meta: exactly({ totalItems: COUNT }), cursor: NULLABLE_TEXT });
