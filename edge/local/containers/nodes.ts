import { EdgeError } from '../../edge-error.ts';
import { shown } from '../../shown-value.ts';
import type { LocalResource } from '../local-resource.ts';

const MIGRATION = 'CREATE TABLE node (id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL UNIQUE) STRICT';

const DEFAULT_LIMIT = 20;
const SEEDED_PAIRS = 24;

function asCursor(lastId: number): string {
  return Buffer.from(`node:${lastId}`).toString('base64url');
}

/** The id of a cursor. Throws EdgeError 400 for a text that is no cursor. */
function afterCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const id = /^node:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (id !== undefined && asCursor(Number(id)) === cursor) return Number(id);
  const message = `${shown(cursor)} is no cursor; allowed: the cursor of an earlier page`;
  throw new EdgeError(400, 'request.invalid', `nextCursor: ${message}`, { errors: [{ field: 'nextCursor', message }] });
}

/** Answers operation 11: the addresses of the container network's nodes. They are made up, from the ranges for documentation. */
export const nodes: LocalResource = {
  name: 'nodes',
  migrations: [MIGRATION],
  seed({ db }) {
    const insert = db.prepare('INSERT INTO node (address) VALUES (?)');
    for (let index = 1; index <= SEEDED_PAIRS; index += 1) {
      insert.run(`198.51.100.${index * 10}`);
      insert.run(`2001:db8:0:${index.toString(16)}::1`);
    }
  },
  routes(app, { db }) {
    const page = db.prepare('SELECT id, address FROM node WHERE id > ? ORDER BY id LIMIT ?');
    const count = db.prepare('SELECT count(*) AS n FROM node');
    app.get<{ Querystring: { nextCursor?: string; limit?: number } }>('/mc/nodes', ({ query }, reply) => {
      const { nextCursor, limit = DEFAULT_LIMIT } = query;
      // One row more than asked for shows whether there is a next page.
      const rows = page.all(afterCursor(nextCursor), limit + 1);
      const shown = rows.slice(0, limit);
      return reply.send({
        items: shown.map((row) => row['address']),
        meta: { totalItems: Number(count.get()?.['n']) },
        cursor: rows.length > limit ? asCursor(Number(shown.at(-1)?.['id'])) : null,
      });
    });
  },
};
