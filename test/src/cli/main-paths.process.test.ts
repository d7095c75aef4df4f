import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { idsIn } from '../sinks/sample-events.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli } from './cli-process.ts';

let folder: string;
let program: CliProcess;
let url: string;

const event = (index: number): string =>
  JSON.stringify({
    logId: `e${index}`,
    shieldZoneId: 7,
    timestamp: Date.now() - 60_000 + index,
    action: index % 3 === 0 ? 'logged' : 'blocked',
    ip: `192.0.2.${index}`,
    log: {},
  });

async function serve(): Promise<void> {
  program = startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data')]);
  url = await addressOf(program);
}

/** Runs a command to its end; it has to succeed. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, input?: string): Promise<string> {
  const { status, stdout, stderr } = await runCli(args, env, input);
  expect(status, stderr).toBe(0);
  return stdout;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-main-paths-'));
  await serve();
  writeFileSync(join(folder, 'events.ndjson'), Array.from({ length: 8 }, (_, index) => `${event(index)}\n`).join(''));
});

afterAll(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

describe('each command as a process, against one program that is killed in the middle', { shuffle: false }, () => {
  test('ingest stores the events of a file and of standard input, each once', async () => {
    const file = join(folder, 'events.ndjson');
    expect(await run(['ingest', '--url', url, file])).toMatch(/accepted 8\b/);
    expect(await run(['ingest', '--url', url, file])).toContain('accepted 8 (8 stored already)');
    expect(await run(['ingest', '--url', url, '-'], {}, `${event(8)}\n${event(9)}\n`)).toMatch(/accepted 2\b/);
  });

  test('serve has its events again after a kill, and ends with status 0 where it is asked to', async () => {
    program.child.kill('SIGKILL');
    await program.ended;
    await serve();
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    await serve();
    expect(idsIn(await run(['search', '--url', url]))).toHaveLength(10);
  });

  test('search finds rows, and groups counts them', async () => {
    expect(idsIn(await run(['search', '--url', url, 'action:logged']))).toEqual(['e9', 'e6', 'e3', 'e0']);
    const groups = (await run(['groups', '--url', url, '--group-by', 'action'])).trim().split('\n');
    expect(groups.map((line) => JSON.parse(line)).map(({ key, count }) => [key.action, count])).toEqual([
      ['blocked', 6],
      ['logged', 4],
    ]);
  });

  test('export writes what is found to a file', async () => {
    const file = join(folder, 'export.ndjson');
    await run(['export', '--url', url, '--output', file, 'ip:192.0.2.4/31']);
    expect(idsIn(readFileSync(file, 'utf8'))).toEqual(['e5', 'e4']);
  });

  test('tail shows events as they come in', async () => {
    const tail = startCli(['tail', '--url', url, '--last', '5m']);
    await eventually('the newest event is shown', () => idsIn(tail.stdout()).includes('e9'));
    await run(['ingest', '--url', url, '-'], {}, `${event(10)}\n`);
    await eventually('the next is shown', () => idsIn(tail.stdout()).includes('e10'));
    tail.child.kill('SIGINT');
    await tail.ended;
    expect(idsIn(tail.stdout())).toEqual(Array.from({ length: 11 }, (_, index) => `e${index}`));
  });

  test('feed delivers every event to a file once, over a restart of its own', async () => {
    const file = join(folder, 'feed.ndjson');
    const feed = () => run(['feed', '--url', url, '--zone', '7', '--to', file, '--once'], { XDG_STATE_HOME: join(folder, 'state') });
    await feed();
    await run(['ingest', '--url', url, '-'], {}, `${event(11)}\n`);
    await feed();
    expect(idsIn(readFileSync(file, 'utf8'))).toEqual(Array.from({ length: 12 }, (_, index) => `e${index}`));
  });

  test('backup copies the folder, and a program on the copy has every event', async () => {
    const backup = join(folder, 'backup');
    expect((await runCli(['backup', backup, '--url', url])).stderr).toMatch(/ files with \d+ bytes copied in /);
    expect((await runCli(['backup', backup, '--url', url])).stderr).toContain(' files were there already');
    cpSync(backup, join(folder, 'restored'), { recursive: true });
    const restored = startCli(['serve', '--port', '0', '--data-dir', join(folder, 'restored')]);
    const rows = (at: string) => run(['search', '--url', at, '--limit', '100']);
    expect(idsIn(await rows(await addressOf(restored)))).toEqual(idsIn(await rows(url)));
    restored.child.kill('SIGTERM');
    expect(await restored.ended).toBe(0);
  });

  test('tokens makes a token with which the database answers', async () => {
    const [line = ''] = (await run(['tokens', 'generate', '--data-dir', join(folder, 'data')])).split('\n');
    const [kind, token] = line.split('\t');
    expect(kind).toBe('full-access');
    const answer = await fetch(`${url}/v2/pipeline`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ requests: [{ type: 'execute', stmt: { sql: 'SELECT 1' } }, { type: 'close' }] }),
    });
    expect([answer.status, ((await answer.json()) as { readonly results: readonly unknown[] }).results]).toEqual([
      200,
      [expect.objectContaining({ type: 'ok' }), expect.objectContaining({ type: 'ok' })],
    ]);
  });
});
