import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inPlaneTransaction, migrate, openState } from '../../../edge/local/control-plane-state.ts';

let dataDir: string;
const open: DatabaseSync[] = [];

function openHere(): DatabaseSync {
  const db = openState(dataDir);
  open.push(db);
  return db;
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-state-'));
});

afterEach(() => {
  for (const db of open.splice(0)) db.close();
  rmSync(dataDir, { recursive: true });
});

const FIRST = 'CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT NOT NULL)';
const SECOND = "ALTER TABLE thing ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'";

function things(db: DatabaseSync): unknown[] {
  return db.prepare('SELECT * FROM thing').all();
}

describe('the control plane state', () => {
  test('is brought from any version to the newest, and seeded only when new', () => {
    const db = openHere();
    const seed = (): void => db.exec("INSERT INTO thing (name) VALUES ('seeded')");
    migrate(db, { name: 'things', migrations: [FIRST] }, seed);
    migrate(db, { name: 'things', migrations: [FIRST, SECOND] }, seed);
    migrate(db, { name: 'things', migrations: [FIRST, SECOND] }, seed);
    expect(things(db)).toEqual([{ id: 1, name: 'seeded', colour: 'blue' }]);
  });

  test('stays as it was when a migration fails', () => {
    const db = openHere();
    migrate(db, { name: 'things', migrations: [FIRST] });
    expect(() => migrate(db, { name: 'things', migrations: [FIRST, SECOND, 'NOT SQL'] })).toThrow(/syntax error/);
    migrate(db, { name: 'things', migrations: [FIRST, SECOND] });
    expect(things(db)).toEqual([]);
  });

  test('of a newer program is refused, naming both versions', () => {
    const db = openHere();
    migrate(db, { name: 'things', migrations: [FIRST, SECOND] });
    expect(() => migrate(db, { name: 'things', migrations: [FIRST] })).toThrow(
      /"things" has version 2, this program knows versions up to 1/,
    );
  });

  test('keeps nothing of a transaction that throws, and takes the next one', () => {
    const db = openHere();
    migrate(db, { name: 'things', migrations: [FIRST] });
    const insert = (name: string): void => db.exec(`INSERT INTO thing (name) VALUES ('${name}')`);
    expect(() =>
      inPlaneTransaction(db, () => {
        insert('lost');
        throw new Error('no');
      }),
    ).toThrow('no');
    inPlaneTransaction(db, () => insert('kept'));
    expect(things(db)).toEqual([{ id: 1, name: 'kept' }]);
  });

  test('has every committed transaction whole after a kill in the middle of many', async () => {
    const module = JSON.stringify(join(import.meta.dirname, '../../../edge/local/control-plane-state.ts'));
    const script = `
      const { openState, inPlaneTransaction, migrate } = await import(${module});
      const db = openState(${JSON.stringify(dataDir)});
      migrate(db, { name: 'things', migrations: [${JSON.stringify(FIRST)}] });
      const insert = db.prepare("INSERT INTO thing (name) VALUES (?)");
      for (let n = 1; ; n += 1) {
        inPlaneTransaction(db, () => { insert.run('a' + n); insert.run('b' + n); });
        process.stdout.write(n + '\\n');
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    let told = '';
    child.stdout.on('data', (bytes: Buffer) => {
      told += bytes.toString();
      if (told.split('\n').length > 20) child.kill('SIGKILL');
    });
    await once(child, 'close');
    const lastTold = Number(told.split('\n').at(-2));
    const rows = things(openHere());
    expect(rows.length % 2).toBe(0);
    expect(rows.length / 2).toBeGreaterThanOrEqual(lastTold);
  });
});
