import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { ownServer, quietClient } from '../engine.ts';

const MODULE = join(import.meta.dirname, 'server-process.ts');

/** A process that starts a server in a folder. It tells the number of the server's process, and goes on. */
function starting(folder: string, { before = '', env = process.env }: { readonly before?: string; readonly env?: NodeJS.ProcessEnv } = {}) {
  const code = `import { startServer } from ${JSON.stringify(MODULE)};
    ${before};
    try {
      console.log((await startServer(${JSON.stringify(folder)})).pid);
    } catch ({ message }) {
      console.log(message);
      process.exit(1);
    }`;
  return spawn(process.execPath, ['--input-type=module', '--eval', code], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.each(['SIGINT', 'SIGKILL'] as const)(
  'a server ends with the process that has started it by %s, and its folder is gone',
  async (signal) => {
    const folder = join(temporaryFolder(), 'server');
    const child = starting(folder);
    const pid = Number((await once(createInterface({ input: child.stdout }), 'line'))[0]);
    expect(isRunning(pid)).toBe(true);
    expect(readdirSync(folder)).toContain('store');
    child.kill(signal);
    await expect.poll(() => isRunning(pid) || existsSync(folder)).toBe(false);
  },
);

test.each([
  { missing: 'python3', env: { ...process.env, PATH: '' }, before: '', why: 'there is no python3' },
  {
    missing: 'a library for the processor',
    env: process.env,
    before: "Object.defineProperty(process, 'arch', { value: 'vax' })",
    why: `there is no ${join(import.meta.dirname, '../../../bench/node_modules/@chdb', `lib-${process.platform}-vax`)}`,
  },
])('without $missing one line says so, and what to set', async ({ env, before, why }) => {
  const folder = temporaryFolder();
  const said = await text(starting(folder, { env, before }).stdout);
  expect(existsSync(folder)).toBe(false);
  expect(said.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^This machine cannot run the ClickHouse server of the tests, because /),
  ]);
  expect(said).toContain(why);
  expect(said).toMatch(/: CLICKHOUSE_URL may name another\n$/);
});

test('a server has the users of its users.xml, with their passwords and grants', async () => {
  const [profile, quota] = ['<profile>default</profile>', '<quota>default</quota>'];
  const { url } = await ownServer({
    users: `<profiles><default/></profiles><quotas><default/></quotas><users>
      <default><password/>${profile}${quota}</default>
      <reader><password>secret</password>${profile}${quota}<grants><query>GRANT SELECT ON system.one</query></grants></reader>
    </users>`,
  });
  const client = quietClient({ url, username: 'reader', password: 'secret' });
  const ask = async (query: string) => await (await client.query({ query, format: 'TabSeparated' })).text();
  expect(await ask('SELECT currentUser(), dummy FROM system.one')).toBe('reader\t0\n');
  await expect(ask('CREATE DATABASE other')).rejects.toMatchObject({ code: '497' });
  await client.close();
});
