import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { type Counterexample, readValues } from './counterexamples.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const CONFIG = "export default { test: { include: ['test/**/*.test.ts'], setupFiles: ['test/random/seed-setup.ts'] } };\n";

let folder: string;

/** A checkout with what `npm run fuzz` needs, and one file with a property. */
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder, 'test/random'), { recursive: true });
  for (const name of readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))) {
    copyFileSync(join(import.meta.dirname, name), join(folder, 'test/random', name));
  }
  writeFileSync(join(folder, 'test/random/counterexamples.json'), '[]');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'vitest.config.ts'), CONFIG);
  symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
});

/** Holds for numbers below `limit`, of those up to `most`, of which it draws some. */
function writeProperty(limit: number, most: number, numRuns: number): void {
  const text = `import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from './random/assert-property.ts';

test('the number is small', () => {
  const draw = fc.record({ number: fc.nat(${most}), bytes: fc.constant(Buffer.from([0, 255])), nothing: fc.constant(undefined) });
  const property = fc.property(draw, ({ number, bytes }) => {
    expect(Buffer.isBuffer(bytes)).toBe(true);
    expect(number).toBeLessThan(${limit});
  });
  assertProperty(property, { numRuns: ${numRuns} });
});
`;
  writeFileSync(join(folder, 'test/number.test.ts'), text);
}

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

const fuzz = (...args: readonly string[]) => run('test/random/fuzz.ts', ...args);

/** Interrupts it where a round begins. */
async function fuzzFor(round: number, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['test/random/fuzz.ts', ...args], { cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await eventually('the round begins', () => output.includes(`round ${round}: `));
  child.kill('SIGINT');
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output };
}

test('ends by itself where the time is up', () => {
  writeProperty(1_001, 1_000, 10);
  const { status, output } = fuzz('--minutes', '0.01');
  expect(output).toContain('round 1: ');
  expect(output).toMatch(/test\/number\.test\.ts +\d+ +0 +0\n$/);
  expect(status).toBe(0);
});
const tests = () => run('node_modules/vitest/vitest.mjs', 'run');
const kept = () => JSON.parse(readFileSync(join(folder, 'test/random/counterexamples.json'), 'utf8')) as readonly Counterexample[];

test('a property that fails is tried on, its counterexample is kept as a value, and tried first from then on', async () => {
  writeProperty(100, 1_000, 100);
  const { status, output } = await fuzzFor(3, '--minutes', '60', '--seed', '5');
  expect(output).toContain('round 1: --seed 5, 60 minutes left');
  expect(output).toContain('round 2: --seed 6');
  expect(output).toContain('FAIL test/number.test.ts > the number is small');
  expect(output).toMatch(/\nfile +rounds +failed +new counterexamples\ntest\/number\.test\.ts +([2-9]|\d\d) +\1 +1\n$/);
  expect(status).toBe(1);
  expect(kept()).toMatchObject([{ file: 'test/number.test.ts', name: 'the number is small', part: '', dataSeed: null }]);
  expect(readValues(kept()[0]?.values ?? '')).toEqual([{ number: 100, bytes: Buffer.from([0, 255]), nothing: undefined }]);

  // Another generator draws no such number any more.
  writeProperty(100, 5, 1);
  const failed = tests();
  expect(failed.output).toContain('expected 100 to be less than 100');
  expect(failed.status).toBe(1);
  writeProperty(101, 5, 1);
  expect(tests().status).toBe(0);
});

test('properties that hold end with status 0, and keep nothing', async () => {
  writeProperty(1_001, 1_000, 10);
  const { status, output } = await fuzzFor(2, join(folder, 'test/number.test.ts'));
  expect(output).toMatch(/test\/number\.test\.ts +\d+ +0 +0\n$/);
  expect(status).toBe(0);
  expect(kept()).toEqual([]);
});

test.each([
  [['--minutes', '0'], '--minutes is "0"; allowed: a number above 0, up to 1440'],
  [['--minutes', 'ten'], '--minutes is "ten"; allowed: a number above 0, up to 1440'],
  [['--seed', '1.5'], '--seed is "1.5"; allowed: an integer from -2147483648 to 2147483647'],
  [['--sed', '1'], "Unknown option '--sed'"],
  [['test/none.test.ts'], 'no file with a property is in '],
])('%j is refused', (args, message) => {
  writeProperty(1_001, 1_000, 10);
  const { status, output } = fuzz(...args);
  expect(output).toContain(message);
  expect(status).toBe(2);
});

test('a run draws the same with the same seed, and SEED changes it', () => {
  writeProperty(0, 1_000_000, 1);
  const drawnWith = (seed: string) => {
    const env = { ...process.env, SEED: seed };
    const { stderr } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], { cwd: folder, encoding: 'utf8', env });
    return /seed: (-?\d+).*SEED=(\S+) draws/s.exec(stderr)?.slice(1);
  };
  expect([drawnWith('3'), drawnWith('3'), drawnWith('4')]).toEqual([
    ['3', '3'],
    ['3', '3'],
    ['4', '4'],
  ]);
});
