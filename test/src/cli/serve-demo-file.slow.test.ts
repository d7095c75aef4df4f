import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { lastHour, search } from '../running-app.ts';
import { addressOf, type CliProcess, killAll, runCli, startCli } from './cli-process.ts';

afterEach(killAll);

/** A request that AWS WAF blocked a week ago, as it logs it. */
const RECORD = JSON.stringify({
  timestamp: Date.now() - 7 * 24 * 3_600_000,
  terminatingRuleId: 'sqli',
  action: 'BLOCK',
  httpRequest: { clientIp: '192.0.2.7', uri: '/a', requestId: 'r-1' },
});

/** A folder with a log, and one for what the program makes for a while. */
function folders(): { readonly file: string; readonly temporary: string; readonly dataDir: string } {
  const folder = temporaryFolder();
  const [file, temporary] = [join(folder, 'waf.log.gz'), join(folder, 'tmp')];
  writeFileSync(file, gzipSync(`${RECORD}\nno record\n`));
  mkdirSync(temporary);
  return { file, temporary, dataDir: join(folder, 'data') };
}

async function stopped(program: CliProcess): Promise<void> {
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
}

test('serve shows a log of last week as one of now, in a folder that goes with it', async () => {
  const { file, temporary } = folders();
  const program = startCli(['serve', '--port', '0', '--demo-file', file, '--demo-mapping', 'aws-waf'], { TMPDIR: temporary });
  const url = await addressOf(program);
  await eventually('the file is taken in', () => program.stderr().includes('was rejected'));
  expect((await search({ url }, lastHour(), {}, 1)).body).toMatchObject({ total: 1, rows: [{ logId: 'r-1', fields: { ruleId: 'sqli' } }] });
  expect(program.stderr()).toMatch(/accepted 1 \(0 stored already\), expired 0, rejected 1, left out 0; all times were moved ahead by 7 d/);
  expect(program.stderr()).toContain('a record of ');
  expect(readdirSync(temporary)).toEqual([expect.stringMatching(/^shieldlog-demo-/)]);
  await stopped(program);
  expect(readdirSync(temporary)).toEqual([]);
});

test('serve keeps the events of a demo file where DATA_DIR is set', async () => {
  const { file, temporary, dataDir } = folders();
  const start = () =>
    startCli(['serve', '--port', '0'], { TMPDIR: temporary, DATA_DIR: dataDir, DEMO_FILE: file, DEMO_MAPPING: 'aws-waf' });
  for (const already of [0, 1]) {
    const program = start();
    const url = await addressOf(program);
    await eventually('the file is taken in', () => program.stderr().includes(`accepted 1 (${already} stored already)`));
    expect((await search({ url }, lastHour(), {}, 1)).body.total).toBe(1);
    await stopped(program);
  }
  expect([readdirSync(temporary), existsSync(dataDir)]).toEqual([[], true]);
});

test('serve names a mapping that there is not, with status 2, and leaves no folder', async () => {
  const { file, temporary } = folders();
  const { status, stderr } = await runCli(['serve', '--demo-file', file, '--demo-mapping', 'aws'], { TMPDIR: temporary, PORT: '0' });
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^shieldlog: DEMO_MAPPING is not allowed: "aws" is no mapping; allowed: aws-waf, [^\n]+\n$/),
  ]);
  expect(readdirSync(temporary)).toEqual([]);
});
