import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressOf, killAll, runCli, startCli } from '../../../src/cli/cli-process.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-facade-'));
});

afterEach(async () => {
  await killAll();
  rmSync(dataDir, { recursive: true, force: true });
});

test('a real client works through the program itself, with tokens made beside it', async () => {
  const cli = startCli(['serve', '--data-dir', dataDir, '--port', '0']);
  const url = await addressOf(cli);
  const { stdout } = await runCli(['tokens', 'generate', '--data-dir', dataDir]);
  const [full = '', read = ''] = stdout.split('\n').map((line) => line.split('\t')[1] ?? '');
  const [writer, reader] = [full, read].map((authToken) => createClient({ url, authToken, intMode: 'bigint' }));
  await writer?.executeMultiple('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item (name) VALUES (1)');
  const transaction = await writer?.transaction('write');
  await transaction?.execute({ sql: 'INSERT INTO item VALUES (?, :name)', args: [9223372036854775807n, 'last'] });
  await transaction?.commit();
  expect((await reader?.execute('SELECT max(id) FROM item'))?.rows[0]?.[0]).toBe(9223372036854775807n);
  await expect(reader?.execute('DELETE FROM item')).rejects.toMatchObject({ code: 'SQLITE_READONLY' });
  await expect(writer?.execute('nonsense')).rejects.toMatchObject({ code: 'SQL_PARSE_ERROR' });
  await runCli(['tokens', 'regenerate', '--data-dir', dataDir]);
  await expect(writer?.execute('SELECT 1')).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
});
