import { StatementError } from './statement-error.ts';
import { textAt, wholeAt } from './wire-place.ts';

/** The SQL texts that a stream keeps by number. Every function throws StatementError. */
export interface StoredSqls {
  find(place: string, sqlId: unknown): string;
  store(place: string, sqlId: unknown, sql: unknown): void;
  close(place: string, sqlId: unknown): void;
}

/** No more than `most` texts, of no more than `longest` characters each. */
export function makeStoredSqls({ most, longest }: { readonly most: number; readonly longest: number }): StoredSqls {
  const texts = new Map<number, string>();
  return {
    find(place, sqlId) {
      const id = wholeAt(place, sqlId);
      const sql = texts.get(id);
      if (sql === undefined) throw new StatementError('SQL_NOT_FOUND', `${place} is ${id}, and this stream has stored no such SQL text`);
      return sql;
    },
    store(place, sqlId, sql) {
      const id = wholeAt(`${place}.sql_id`, sqlId);
      const text = textAt(`${place}.sql`, sql);
      if (texts.has(id)) throw new StatementError('SQL_STORE_EXISTS', `${place}.sql_id is ${id}, which is in use; close_sql frees it`);
      if (texts.size >= most) throw new StatementError('SQL_STORE_TOO_MANY', `${place}: this stream stores ${most} SQL texts, and no more`);
      if (text.length > longest) {
        throw new StatementError('SQL_STORE_TOO_LARGE', `${place}.sql has ${text.length} characters; allowed: up to ${longest}`);
      }
      texts.set(id, text);
    },
    close(place, sqlId) {
      texts.delete(wholeAt(`${place}.sql_id`, sqlId));
    },
  };
}
