import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'bench/main.ts');

/** Runs the command; its status says how noisy the machine was. */
async function compare(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const ran = await promisify(execFile)(process.execPath, [MAIN, 'compare', ...args], { cwd: ROOT }).catch((error) => error);
  return { status: ran.code ?? 0, stdout: ran.stdout, stderr: ran.stderr };
}

const worktrees = () => execFileSync('git', ['worktree', 'list'], { cwd: ROOT, encoding: 'utf8' });

test('the last commit and this checkout answer alike, each row has ratios, and nothing is left of the other checkout', async () => {
  const before = worktrees();
  const { stdout, stderr } = await compare('HEAD', '--events', '2000', '--turns', '1', '--only', '01,14,explore-3,intake');
  expect(stderr).not.toContain('differ');
  for (const row of ['01-first-page', '14-group-by-ip', 'explore-3', 'intake-file', 'intake-posts']) {
    expect(stdout).toMatch(new RegExp(`^${row} .* \\d+\\.\\d\\d .* equal$`, 'm'));
  }
  expect(stdout.match(/^geometric mean +\d/gm)).toHaveLength(5);
  expect(worktrees()).toBe(before);
});

test('what is no commit is refused by its name, and a missing one, too', async () => {
  const unknown = await compare('no-such-branch');
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toContain('"no-such-branch" cannot be checked out: it is no commit, tag or branch of this repository');
  const missing = await compare();
  expect(missing.status).toBe(2);
  expect(missing.stderr).toContain('npm run bench -- compare COMMIT');
});
