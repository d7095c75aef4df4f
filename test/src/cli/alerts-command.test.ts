import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { runHere } from './command-run.ts';

const RULE = 'name: logins\nzones: [7]\nsearch: url:~login action:blocked\nby: ip\nkind: count\nat_least: 3\nwindow: 10m\nseverity: high\n';
const NOON = Date.UTC(2026, 4, 12, 12);
const MINUTE = 60_000;

/** The path of a file with this text, in a folder that goes with the test. */
function fileWith(text: string | Uint8Array, name = 'file'): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}

/** A line for a login that was blocked, so many minutes after noon. */
function login(minute: number, more: Readonly<Record<string, unknown>> = {}): string {
  const event = {
    logId: `e${minute}`,
    shieldZoneId: 7,
    timestamp: NOON + minute * MINUTE,
    ip: '192.0.2.1',
    url: '/Login',
    action: 'blocked',
  };
  return `${JSON.stringify({ ...event, log: {}, ...more })}\n`;
}

const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

it.each<[readonly string[], string]>([
  [[], 'alerts needs one of check, test, send-test'],
  [['try'], "'try' is not one of check, test, send-test"],
  [['test'], 'alerts test needs the FILE of a rule'],
  [['test', 'a', 'b'], "Unexpected argument 'b'; alerts test needs the FILE of a rule"],
  [['test', 'a', '--retention-hours', '1'], '--retention-hours is not allowed with alerts test'],
  [['check', 'a', '--last', '1h'], '--last is not allowed with alerts check'],
  [['send-test'], 'alerts send-test needs the name of a RECEIVER'],
  [['send-test', 'soc', '--last', '1h'], '--last is not allowed with alerts send-test'],
  [['check'], 'alerts check needs the FILE of a rule'],
  [['check', 'a', '--retention', '1'], "Unknown option '--retention'"],
])('alerts %j is refused', async (args, message) => {
  expect(await runHere(['alerts', ...args])).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
});

it('says that a rule is right, or every line of it that is wrong, or why its file cannot be read', async () => {
  const right = fileWith(RULE);
  expect(await runHere(['alerts', 'check', right])).toEqual({ status: 0, stdout: '', stderr: `${right} is right\n` });
  const wrong = fileWith(RULE.replace('10m', '10').replace('by: ip', 'by: colour'));
  expect(await runHere(['alerts', 'check', wrong])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^shieldlog: .*file, line 4: by is "colour"; allowed: .*\n.*file, line 7: window is "10"; allowed: .*\n$/,
    ),
  });
  const missing = join(temporaryFolder(), 'none.yaml');
  expect(await runHere(['alerts', 'check', missing])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('none.yaml cannot be read'),
  });
});

it('tells what the search lines of a rule say otherwise than they look', async () => {
  const ratio = RULE.replace('kind: count', 'kind: ratio\npart: country=DE\nshare: 20%').replace('action:blocked', 'action=blocked');
  const rule = fileWith(ratio);
  const notes = [
    `${rule}: action=blocked is searched as a text; a filter is action:blocked`,
    `${rule}: country=DE is searched as a text; a filter is country:DE`,
  ];
  const stderr = [...notes.map((note) => `shieldlog: ${note}\n`), `${rule} is right\n`].join('');
  expect(await runHere(['alerts', 'check', rule])).toEqual({ status: 0, stdout: '', stderr });
});

it('tells the alerts that a rule makes of examples, in the order in which they come', async () => {
  const [rule, first] = [fileWith(RULE), fileWith([0, 1].map((minute) => login(minute)).join(''))];
  const others = [login(3, { action: 'logged' }), login(2), login(4, { url: '/' }), login(90), login(91)];
  const second = fileWith(gzipSync(others.join('')));
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('shieldlog-alerts-'));
  const { status, stdout, stderr } = await runHere(['alerts', 'check', rule, first, second]);
  expect([status, stderr]).toEqual([0, 'events 7, rejected 0, hits 2, alerts told 1\n']);
  const alert = { rule: 'logins', severity: 'high', group: { ip: '192.0.2.1' }, labels: {}, receivers: [] };
  const [told, resolved] = jsonLines(stdout);
  expect(told).toMatchObject({
    ...alert,
    state: 'told',
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    hits: 1,
    toldAt: '2026-05-12T12:02:00.000Z',
  });
  expect(resolved).toMatchObject({ ...alert, state: 'resolved', id: told.id, hits: 2, resolvedAt: '2026-05-12T12:40:00.000Z' });
  expect([resolved.from, resolved.to]).toEqual(['2026-05-12T11:55:00.000Z', '2026-05-12T12:10:00.000Z']);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('shieldlog-alerts-'))).toEqual(before);
});

it('names what of the examples is no event, and an example that cannot be read', async () => {
  const rule = fileWith(RULE);
  const bad = fileWith(`${login(0)}{"logId":"x"}\n`, 'bad.ndjson');
  expect(await runHere(['alerts', 'check', rule, bad])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^shieldlog: .*bad\.ndjson, event 2: .*shieldZoneId.*\nevents 1, rejected 1, hits 0, alerts told 0\n$/),
  });
  const missing = join(temporaryFolder(), 'none.ndjson');
  expect(await runHere(['alerts', 'check', rule, missing])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('none.ndjson: the input broke off (ENOENT'),
  });
});

it('counts an event that stands behind later ones as late, and one that is too late not at all', async () => {
  const rule = fileWith(`${RULE}late: 1h\n`);
  const late = (minute: number) => fileWith([login(0), login(1), login(minute, { logId: 'other' }), login(2)].join(''));
  expect(jsonLines((await runHere(['alerts', 'check', rule, late(60)])).stdout).map(({ state }) => state)).toEqual(['told', 'resolved']);
  expect((await runHere(['alerts', 'check', rule, late(75)])).stdout).toBe('');
});
