import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { killAll, runCli } from './cli-process.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-tokens-'));
});

afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

describe('shieldlog tokens, where there is no folder of a program', () => {
  test.each(['generate', 'regenerate', 'list'])(
    '%s refuses it with status 1 and makes nothing, by flag and by variable',
    async (action) => {
      const missing = join(folder, 'missing', 'data');
      for (const run of [runCli(['tokens', action, '--data-dir', missing]), runCli(['tokens', action], { DATA_DIR: missing })]) {
        const allowed = 'the folder of a program that was started with shieldlog serve';
        const line = `shieldlog: DATA_DIR: "${missing}" does not exist; allowed: ${allowed}\n`;
        expect(await run).toEqual({ status: 1, stdout: '', stderr: line });
      }
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test('refuses a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { status, stderr } = await runCli(['tokens', 'generate', '--data-dir', file]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^shieldlog: DATA_DIR: ".*\/file" is no folder; allowed: [^\n]+\n$/)]);
  });

  test('takes one that is there, as an operator makes it before the first start', async () => {
    const data = join(folder, 'data');
    mkdirSync(data);
    expect((await runCli(['tokens', 'generate', '--data-dir', data])).status).toBe(0);
    expect(existsSync(join(data, 'control-plane.sqlite'))).toBe(true);
  });
});
