import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { serialize } from 'node:v8';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DATABASE_LIMITS } from '../../../../edge/local/database/database-limits.ts';
import { startDatabaseProcess } from '../../../../edge/local/database/process-pool.ts';
import { type DatabaseApp, startDatabaseApp } from './database-app.ts';

let app: DatabaseApp;

beforeEach(async () => {
  app = await startDatabaseApp();
});

afterEach(() => app.stop());

/** Starts a database process while no file can be opened, and writes what became of that. */
const SCRIPT = `
import { openSync } from 'node:fs';
import { startDatabaseProcess } from '${new URL('../../../../edge/local/database/process-pool.ts', import.meta.url)}';
try {
  for (;;) openSync('/dev/null');
} catch {}
const options = { memoryBytes: 2 ** 29, transactionMs: 5_000 };
const writers = { locked() {}, ended() {} };
const outcome = await startDatabaseProcess({ ...options, writers }).then(() => 'started', ({ message }) => message);
await new Promise((resolve) => setTimeout(resolve, 50));
console.log(outcome);
`;

test('a process for which no file can be opened is an error of its caller, and does not end the program', () => {
  const shell = 'ulimit -n 64 && exec "$0" --input-type=module-typescript -e "$1"';
  const { stdout, stderr, status } = spawnSync('bash', ['-c', shell, process.execPath, SCRIPT], { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('the database process ended: spawn'), '']);
});

/** Stops all of this thread, so that what happens meanwhile is seen in one turn of its loop. */
const stall = (lengthMs: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lengthMs);

test('a process that has ended does not wait for the lock, though its message comes after its end', async () => {
  const told: string[] = [];
  const writers = { locked: () => void told.push('locked'), ended: () => void told.push('ended') };
  const { memoryBytes, transactionMs } = DATABASE_LIMITS;
  const start = () => startDatabaseProcess({ memoryBytes, transactionMs, writers });
  const [other, waiting] = [await start(), await start()];
  const path = join(app.dataDir, 'database.sqlite');
  using holder = new DatabaseSync(path);
  holder.exec('CREATE TABLE item (name TEXT); BEGIN IMMEDIATE');
  await waiting.open({ ...DATABASE_LIMITS, path, counters: null, readOnly: false });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as { readonly port: number }).port, '127.0.0.1');
  const [socket] = await once(server, 'connection');
  told.length = 0;
  const gone = Promise.withResolvers<unknown>();
  const ends: Promise<void>[] = [];
  // The loop reads the socket before it hears of processes that ended, and then hears of both.
  socket.once('data', () => {
    const plan = serialize({ kind: 'sequence', sql: 'INSERT INTO item VALUES (1)' });
    const deadlines = { statementMs: 300_000, requestMs: 300_000 };
    waiting.run({ plan, stored: new Map(), rows: 1, bytes: 1_000 }, deadlines).catch(gone.resolve);
    stall(300);
    ends.push(waiting.kill('stopped', 'the caller has gone'));
    stall(100);
  });
  setImmediate(() => {
    client.write('x');
    ends.push(other.kill('stopped', 'not needed'));
    stall(100);
  });
  expect(String(await gone.promise)).toContain('the caller has gone');
  // A process has ended when its channel is closed, too: no message of it comes after that.
  await Promise.all(ends);
  expect(told).toEqual(['ended', 'ended']);
  client.destroy();
  server.close();
});
