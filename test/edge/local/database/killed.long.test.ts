import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTokenStore } from '../../../../edge/local/database/access-tokens.ts';
import { eventually } from '../../../fixtures/eventually.ts';

const HOST = fileURLToPath(new URL('./database-host.ts', import.meta.url));
const ROWS_A_BATCH = 50;

let dataDir: string;
let token: string;
let host: ChildProcess | null = null;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-killed-'));
  const store = openTokenStore(dataDir, Date.now);
  token = store.generate()[0]?.token ?? '';
  store.close();
});

afterEach(() => {
  host?.kill('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

async function startHost(): Promise<string> {
  const child = spawn(process.execPath, [HOST, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  host = child;
  let told = '';
  child.stdout.on('data', (chunk) => {
    told += String(chunk);
  });
  await eventually('the database listens', () => told.endsWith('\n'));
  return told.trim();
}

async function kill(): Promise<void> {
  const killed = host;
  host = null;
  killed?.kill('SIGKILL');
  await eventually('the host has ended', () => killed?.signalCode !== null);
}

/** Null where the host was killed meanwhile. */
async function pipeline(
  url: string,
  requests: readonly unknown[],
): Promise<{ readonly results: readonly { readonly type: string }[] } | null> {
  try {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/v2/pipeline`, { method: 'POST', headers, body: JSON.stringify({ requests }) });
    return (await response.json()) as { readonly results: readonly { readonly type: string }[] };
  } catch {
    return null;
  }
}

const execute = (sql: string) => ({ type: 'execute', stmt: { sql } });

function counts(): Readonly<Record<string, number>> {
  // The processes of the host end a moment after it.
  const db = new DatabaseSync(join(dataDir, 'database.sqlite'), { timeout: 60_000 });
  const rows = db.prepare('SELECT batch, count(*) AS n FROM item GROUP BY batch').all();
  const check = db.prepare('PRAGMA integrity_check').get();
  db.close();
  expect(check).toEqual({ integrity_check: 'ok' });
  return Object.fromEntries(rows.map(({ batch, n }) => [String(batch), Number(n)]));
}

test('a kill while it writes leaves every transaction that was answered, and none in part', async () => {
  const answered = new Set<string>();
  for (let round = 0; round < 3; round += 1) {
    const url = await startHost();
    await pipeline(url, [execute('CREATE TABLE IF NOT EXISTS item (batch TEXT, n INTEGER)'), { type: 'close' }]);
    let killed = false;
    const before = answered.size;
    const writer = async (name: string): Promise<void> => {
      for (let number = 0; !killed; number += 1) {
        const batch = `${round}-${name}-${number}`;
        const inserts = Array.from({ length: ROWS_A_BATCH }, (_, n) => execute(`INSERT INTO item VALUES ('${batch}', ${n})`));
        const answer = await pipeline(url, [execute('BEGIN IMMEDIATE'), ...inserts, execute('COMMIT'), { type: 'close' }]);
        if (answer?.results.every(({ type }) => type === 'ok')) answered.add(batch);
      }
    };
    const writers = [writer('a'), writer('b')];
    await eventually('some are written', () => answered.size >= before + 5);
    await kill();
    killed = true;
    await Promise.all(writers);
    const kept = counts();
    expect(Object.values(kept).every((count) => count === ROWS_A_BATCH)).toBe(true);
    expect([...answered].filter((batch) => kept[batch] !== ROWS_A_BATCH)).toEqual([]);
  }
});

/** The processes on this machine that run the database for this test's host. */
function processesOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1] === String(parent);
      } catch {
        // It has ended since it was listed.
        return false;
      }
    });
}

test.runIf(existsSync('/proc/self/stat'))('a kill while a statement never ends ends that too, with its locks', async () => {
  const url = await startHost();
  await pipeline(url, [execute('CREATE TABLE item (batch TEXT, n INTEGER)'), { type: 'close' }]);
  const endless = "INSERT INTO item WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'x', count(*) FROM n";
  const running = pipeline(url, [execute('BEGIN IMMEDIATE'), execute(endless)]);
  const db = new DatabaseSync(join(dataDir, 'database.sqlite'));
  const isLocked = (): boolean => {
    try {
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      return false;
    } catch {
      return true;
    }
  };
  await eventually('the statement has the lock', isLocked);
  const processes = processesOf(host?.pid ?? 0);
  expect(processes.length).toBeGreaterThan(0);
  await kill();
  await running;
  await eventually('the processes have ended', () => processes.every((pid) => !existsSync(`/proc/${pid}`)));
  expect(isLocked()).toBe(false);
  db.close();
});
