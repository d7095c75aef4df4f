import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../../store/sqlite-transaction.ts';

function databaseOfNumbers() {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  database.exec('CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT');
  const numbers = () => database.prepare('SELECT number FROM numbers').all();
  return { database, put: database.prepare('INSERT INTO numbers (number) VALUES (?)'), numbers };
}

test('what a transaction writes is kept, and its result handed on', () => {
  const { database, put, numbers } = databaseOfNumbers();
  expect(inTransaction(database, () => Number(put.run(1).lastInsertRowid))).toBe(1);
  expect(numbers()).toEqual([{ number: 1 }]);
  expect(database.isTransaction).toBe(false);
});

test('one that fails leaves nothing behind, says why, and the next one goes on', () => {
  const { database, put, numbers } = databaseOfNumbers();
  const failing = () => {
    put.run(1);
    put.run(1);
  };
  expect(() => inTransaction(database, failing)).toThrow('UNIQUE constraint failed');
  inTransaction(database, () => put.run(2));
  expect(numbers()).toEqual([{ number: 2 }]);
});

test('one that the database has rolled back itself throws what went wrong, not that there is nothing to roll back', () => {
  const { database, put, numbers } = databaseOfNumbers();
  put.run(1);
  const failing = () => database.exec('INSERT OR ROLLBACK INTO numbers (number) VALUES (1)');
  expect(() => inTransaction(database, failing)).toThrow('UNIQUE constraint failed');
  expect(numbers()).toEqual([{ number: 1 }]);
});
