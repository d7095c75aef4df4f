import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-store.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const EVENTUALLY = join(CHECKOUT, 'test/fixtures/eventually.ts');
const UNTIL = join(CHECKOUT, 'test/broker/until.ts');

/** The run that this test is part of may leave files for later, too. */
const { RUN_ALONE_LATER: _, ...OUTSIDE } = process.env;

/** What may go wrong in a test. */
const FAULTS = {
  none: '',
  'test time': 'await new Promise(() => {});',
  eventually: `await eventually('it happens', () => false, 10);`,
  until: `await until('it happens', () => false, Boolean, 10);`,
  poll: 'await expect.poll(() => 1, { timeout: 30 }).toBe(2);',
  'signal of Node': 'await new Promise((_, fail) => { const s = AbortSignal.timeout(10); s.onabort = () => fail(s.reason); });',
  value: 'expect(1).toBe(2);',
  crash: "throw new TypeError('no function');",
  'wrapped time': `await eventually('it happens', () => false, 10).catch((cause) => { throw new Error('Property failed', { cause }); });`,
} as const;

type Fault = keyof typeof FAULTS;

const FILES: Readonly<Record<string, readonly Fault[]>> = {
  'fine.test.ts': ['none', 'none'],
  'slow.test.ts': ['none', 'test time', 'eventually', 'until', 'poll', 'signal of Node'],
  'wrong.test.ts': ['value'],
  'slow-and-wrong.test.ts': ['poll', 'value'],
  'slow-and-broken.test.ts': ['eventually', 'crash'],
  'property.test.ts': ['wrapped time'],
  'hook.test.ts': ['none'],
};

function writeTests(folder: string): void {
  for (const [file, faults] of Object.entries(FILES)) {
    const head = `import { afterAll, expect, test } from 'vitest';
import { eventually } from ${JSON.stringify(EVENTUALLY)};
import { until } from ${JSON.stringify(UNTIL)};
${file === 'hook.test.ts' ? 'afterAll(() => new Promise(() => {}), 50);' : ''}
void [eventually, until];
`;
    const tests = faults.map((fault, index) => `test('${index}: ${fault}', { timeout: 200 }, async () => {\n  ${FAULTS[fault]}\n});\n`);
    writeFileSync(join(folder, file), head + tests.join(''));
  }
}

function run(folder: string, env: Readonly<Record<string, string>> = {}) {
  const args = [join(CHECKOUT, 'scripts/run-tests.mjs'), '--root', folder, '--config', join(folder, 'vitest.config.ts')];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: CHECKOUT, encoding: 'utf8', env: { ...OUTSIDE, ...env } });
  return { status, lines: stdout.trimEnd().split('\n') };
}

test('the last lines tell where the time went and how many tests passed; who fails by time alone is left for another run', () => {
  const folder = temporaryFolder();
  const later = join(folder, 'later.ndjson');
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    "export default { test: { projects: [{ test: { name: 'one', include: ['*.test.ts'] } }] } };\n",
  );
  writeTests(folder);

  const strict = run(folder);
  expect(strict.lines.at(-1)).toBe('4 passed, 12 failed');
  expect(strict.status).toBe(1);
  const times = strict.lines.slice(strict.lines.findIndex((line) => line.startsWith('seconds by project: ')));
  expect(times).toEqual([
    expect.stringMatching(/^seconds by project: one \d+$/),
    'slowest files:',
    ...Object.keys(FILES).map(() => expect.stringMatching(/^ +\d+\.\d s {2}one {2}[a-z-]+\.test\.ts$/)),
    '',
    '4 passed, 12 failed',
  ]);
  expect(existsSync(later)).toBe(false);

  const lenient = run(folder, { RUN_ALONE_LATER: later });
  expect(lenient.lines.at(-1)).toBe('4 passed, 6 failed');
  const left = readFileSync(later, 'utf8').trimEnd().split('\n');
  const read = left.map((line) => JSON.parse(line) as { readonly file: string; readonly project: string; readonly output: string });
  expect(read.map(({ project, file }) => [project, file]).toSorted()).toEqual([
    ['one', 'hook.test.ts'],
    ['one', 'slow.test.ts'],
  ]);
  expect(read.find(({ file }) => file === 'slow.test.ts')?.output).toContain('not within 10 ms: it happens');
});
