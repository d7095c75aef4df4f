import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { programEnv } from '../../fixtures/program-env.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A shell's word. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

let folder: string;
let terminal: ChildProcess | null = null;
let shown = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-terminal-'));
  shown = '';
});

afterEach(async () => {
  const ending = terminal;
  if (ending !== null && ending.exitCode === null) {
    ending.kill('SIGKILL');
    await eventually('the terminal is gone', () => ending.exitCode !== null || ending.signalCode !== null);
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `npm start` (what it runs) in a pseudo-terminal that util-linux's `script` opens. */
function startOnTerminal(env: Readonly<Record<string, string>>): Promise<number | null> {
  const command = ['exec', ...[process.execPath, join(ROOT, 'scripts/launch.mjs'), 'start'].map(quoted)].join(' ');
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { ...programEnv(), TERM: 'xterm-256color', MEMORY_LIMIT_MB: '256', PORT: '0', DATA_DIR: join(folder, 'data'), ...env },
  });
  terminal = child;
  child.stdout.on('data', (chunk) => {
    shown += String(chunk);
  });
  return new Promise((resolve) => child.on('close', resolve));
}

const lines = (): string[] =>
  stripVTControlCharacters(shown)
    .split(/\r?\n/)
    .filter((line) => line !== '');

test('on a terminal, npm start prints lines for people, and last what to open', async () => {
  const ended = startOnTerminal({ RETENTION_HOURS: '1' });
  await eventually('it says what to open', () => lines().some((line) => line.startsWith('open ')));
  const [told = '', ...behind] = lines().slice(lines().findIndex((line) => line.startsWith('open ')));
  expect([told, behind]).toEqual([expect.stringMatching(/^open http:\/\/127\.0\.0\.1:\d+$/), []]);
  expect((await fetch(`${told.slice('open '.length)}/readyz`)).status).toBe(200);
  expect(lines().slice(0, -1)).not.toEqual([]);
  for (const line of lines().slice(0, -1)) expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] (INFO|WARN): \S/);
  expect(lines().join('\n')).toContain('the demo feed has filled the past with events');
  expect(shown).toContain('\u001b[');

  // Ctrl-C of a person reaches the program as a signal.
  terminal?.stdin?.write('\u0003');
  expect(await ended).toBe(0);
  expect(lines().at(-1)).toMatch(/INFO: stopped$/);
});

test('who stops it while the demonstration is filled, is not told to open it', async () => {
  const ended = startOnTerminal({});
  await eventually('it fills the past', () => shown.includes('is filling the past'));
  terminal?.stdin?.write('\u0003');
  expect(await ended).toBe(0);
  // It may have been quick enough.
  expect(shown.includes('open http')).toBe(shown.includes('has filled the past'));
});

test('an address of all interfaces is opened on this machine; NO_COLOR is heeded', async () => {
  const ended = startOnTerminal({ HOST: '0.0.0.0', ACCESS_KEYS: 'me:0123456789abcdef:*', DEMO: 'false', NO_COLOR: '1' });
  await eventually('it says what to open', () => /open \S+\r?\n/.test(shown));
  expect(lines().at(-1)).toMatch(/^open http:\/\/127\.0\.0\.1:\d+$/);
  expect(shown).not.toContain('\u001b[');
  terminal?.stdin?.write('\u0003');
  expect(await ended).toBe(0);
});

test('who wants to see errors only, sees nothing', async () => {
  const ended = startOnTerminal({ LOG_LEVEL: 'error', DEMO: 'false' });
  await eventually('it has opened its folder', () => existsSync(join(folder, 'data')));
  terminal?.stdin?.write('\u0003');
  await ended;
  expect(lines().filter((line) => line !== '^C')).toEqual([]);
});
