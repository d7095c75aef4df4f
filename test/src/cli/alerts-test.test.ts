import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';
import { runHere } from './command-run.ts';

const RULE = 'name: logins\nzones: [7]\nsearch: action:blocked\nby: ip\nkind: count\nat_least: 3\nwindow: 10m\n';
const HOUR = 3_600_000;

let app: RunningApp;
let nowMs = Date.now() - 2 * HOUR;

beforeAll(async () => {
  app = await startApp({ now: () => nowMs });
  const blocked = [1, 2, 3].map((nth) => eventLine({ logId: `e${nth}`, timestamp: nowMs, ip: '192.0.2.1', action: 'blocked', log: {} }));
  await ingest(app, blocked.join(''));
  nowMs += 2 * HOUR;
  await ingest(app, eventLine({ timestamp: nowMs, log: {} }));
});

afterAll(() => app.stop());

function ruleFile(text = RULE): string {
  const file = join(temporaryFolder(), 'rule.yaml');
  writeFileSync(file, text);
  return file;
}

const SUMMARY = /^\S+Z to \S+Z: events \d+, of the rule 3, hits 2, alerts told 1, hits held back by quiet 1\n$/;

test('alerts test has the program try a rule on what it has, and prints the lines that alerts check prints', async () => {
  const { status, stdout, stderr } = await runHere(['alerts', 'test', ruleFile(), '--url', app.url]);
  expect([status, stderr]).toEqual([0, expect.stringMatching(SUMMARY)]);
  const alerts = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(alerts.map(({ state, group, hits }) => [state, group, hits])).toEqual([
    ['told', { ip: '192.0.2.1' }, 1],
    ['resolved', { ip: '192.0.2.1' }, 2],
  ]);
});

test('alerts test --last begins so long ago', async () => {
  const { status, stdout, stderr } = await runHere(['alerts', 'test', ruleFile(), '--last', '1h', '--url', app.url]);
  expect([status, stdout, stderr]).toEqual([0, '', expect.stringContaining('of the rule 0, hits 0')]);
});

test.each([
  ['wrong', RULE.replace('3', '0'), /^shieldlog: .*, line 6: at_least is "0"; allowed: .*\n$/],
  ['of the kind silence', 'name: a\nzones: all\nkind: silence\nfor: 15m\n', /^shieldlog: .* answered 400: .*it has no backtest\n$/],
])('a rule that is %s is not tried', async (_what, text, expected) => {
  expect(await runHere(['alerts', 'test', ruleFile(text), '--url', app.url])).toEqual({
    ...{ status: 1, stdout: '', stderr: expect.stringMatching(expected) },
  });
});

test('where no program is, alerts test says what to start', async () => {
  const { status, stderr } = await runHere(['alerts', 'test', ruleFile(), '--url', 'http://127.0.0.1:1']);
  expect([status, stderr]).toEqual([1, expect.stringContaining('start shieldlog there')]);
});
