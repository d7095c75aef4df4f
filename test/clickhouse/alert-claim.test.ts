import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { type AlertClaimWatch, watchAlertClaim } from '../../src/alerts/alert-claim-watch.ts';
import { readStoreSettings } from '../../store/clickhouse/store-settings.ts';
import { type AlertClaim, CLAIM_EXPIRES_MS, STORE_SETTINGS, silentLogger } from '../../store/event-store.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { addressOf, killAll, runCli, startCli } from '../src/cli/cli-process.ts';
import { eventLine } from '../src/running-app.ts';
import { breakableServer, clickhouseUrl, testDatabase } from './engine.ts';
import { metric, programOn, readiness } from './faults/program-on.ts';
import { PLACES, type SharedStore, sharedStore } from './shared-store.ts';

afterEach(killAll);

const CLAIM = "SELECT argMax(value, changedAt), max(changedAt) FROM store_settings WHERE name = 'ALERT_CLAIM'";

/** Makes the claim one that was renewed so long before. */
async function age(shared: Pick<SharedStore, 'rows' | 'run'>, byMs: number): Promise<void> {
  const [row = []] = await shared.rows(CLAIM);
  const claim = JSON.parse(String(row[0]));
  const aged = JSON.stringify({ ...claim, renewedAtMs: claim.renewedAtMs - byMs });
  await shared.run(`INSERT INTO store_settings SELECT 'ALERT_CLAIM', '${aged}', ${BigInt(String(row[1])) + 1n}`);
}

function follower(name: string) {
  return { id: name, program: `the program ${name}` };
}

const [ONE, OTHER] = [follower('one'), follower('other')];

describe.each(PLACES)('of the programs of a store on %s', (place) => {
  test('that take the claim at once one has it, and the others are told which', async () => {
    const shared = await sharedStore(undefined, place);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const stores = await Promise.all(names.map(() => shared.open()));
    const taken = await Promise.all(stores.map((store, index) => store.alertClaim.take(follower(names[index] ?? ''))));
    const first = names[taken.indexOf(null)];
    expect(taken.filter((other) => other === null)).toHaveLength(1);
    expect(taken.flatMap((other) => other?.program ?? [])).toEqual(names.slice(1).map(() => `the program ${first}`));
  });

  test('the one that has the claim keeps it by renewals, until it gives it back', async () => {
    const shared = await sharedStore(undefined, place);
    const [one, other] = [(await shared.open()).alertClaim, (await shared.open()).alertClaim];
    expect(await one.take(ONE)).toBeNull();
    const told = await other.take(OTHER);
    expect(told).toMatchObject(ONE);
    await age(shared, CLAIM_EXPIRES_MS);
    expect(await one.take(ONE)).toBeNull();
    expect(await other.take(OTHER)).toMatchObject({ ...ONE, sinceMs: told?.sinceMs });
    await other.release(OTHER);
    expect(await other.take(OTHER)).toMatchObject(ONE);
    await one.release(ONE);
    await expect.poll(() => other.take(OTHER)).toBeNull();
    expect(await one.take(ONE)).toMatchObject(OTHER);
  });
});

test.each([
  ['was not renewed for a minute', CLAIM_EXPIRES_MS],
  ['is of a time to come, because the clock has stepped back', -2 * CLAIM_EXPIRES_MS],
])('a claim that %s is taken by another program', async (_, byMs) => {
  const shared = await sharedStore();
  const { alertClaim } = await shared.open();
  await alertClaim.take(ONE);
  await age(shared, byMs);
  expect(await alertClaim.take(OTHER)).toBeNull();
  expect(await alertClaim.take(ONE)).toMatchObject(OTHER);
});

test('of the program whose claim has expired and others that take it at once one has it', async () => {
  const shared = await sharedStore();
  const { alertClaim } = await shared.open();
  await alertClaim.take(ONE);
  for (let round = 0; round < 20; round += 1) {
    await age(shared, CLAIM_EXPIRES_MS);
    const taken = await Promise.all([ONE, OTHER, ONE, OTHER].map((own) => alertClaim.take(own)));
    const holders = new Set(taken.map((other, index) => other?.id ?? (index % 2 === 0 ? 'one' : 'other')));
    expect(holders.size).toBe(1);
  }
});

test('the claim is no setting of the store', async () => {
  const shared = await sharedStore();
  await (await shared.open()).alertClaim.take(ONE);
  expect([...(await readStoreSettings(shared.address)).keys()].toSorted()).toEqual(STORE_SETTINGS.toSorted());
});

/** The claim of a program that renews it all the time, until the test has ended. */
async function watched(claim: AlertClaim, options: Partial<Parameters<typeof watchAlertClaim>[0]> = {}): Promise<AlertClaimWatch> {
  const usual = { claim, dataDir: temporaryFolder(), logger: silentLogger, renewEveryMs: 20 };
  const watch = await watchAlertClaim({ ...usual, ...options });
  onTestFinished(() => watch.stop());
  return watch;
}

test('a claim is renewed while nobody asks for it, until it is given back', async () => {
  const shared = await sharedStore();
  const watch = await watched((await shared.open()).alertClaim);
  const claim = async () => (await shared.rows(CLAIM))[0];
  const [first] = (await claim()) as [string];
  const { renewedAtMs } = JSON.parse(first);
  const renewed = async () => JSON.parse(String((await claim())?.[0])).renewedAtMs;
  await expect.poll(renewed).toBeGreaterThan(renewedAtMs);
  await watch.stop();
  await expect.poll(async () => (await claim())?.[0]).toBe('');
  expect(watch.notes()).toEqual([]);
});

test('a program whose renewal gets no answer follows no rules a minute after the last one, and says so', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const clock = { nowMs: 0 };
  const watch = await watched((await shared.open()).alertClaim, { nowMs: () => clock.nowMs });
  const fault = await server.break({ kind: 'hold', at: 'before', matching: 'argMax\\(value, changedAt' });
  await server.held(fault);
  clock.nowMs = CLAIM_EXPIRES_MS - 1;
  expect([watch.isHeld(), watch.notes()]).toEqual([true, []]);
  clock.nowMs = CLAIM_EXPIRES_MS;
  const note = 'rules of alerts wait for the store, which one program may follow them for: it has not answered yet';
  expect([watch.isHeld(), watch.notes()]).toEqual([false, [note]]);
  await server.mend();
  await expect.poll(() => watch.isHeld()).toBe(true);
  expect(watch.notes()).toEqual([]);
});

test.each([
  ['is empty', ''],
  ['has a part of an id', '0b7e2d1c-5a'],
])('programs whose file of the id %s get ids of their own, which they keep', async (_, kept) => {
  const { alertClaim } = await (await sharedStore()).open();
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const fileIn = (folder: string) => join(folder, 'alert-claim-id');
  for (const folder of folders) writeFileSync(fileIn(folder), kept);
  const follow = (dataDir: string) => watched(alertClaim, { dataDir });
  await follow(folders[0]);
  const id = readFileSync(fileIn(folders[0]), 'utf8');
  expect([readdirSync(folders[0]), id]).toEqual([['alert-claim-id'], expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  await expect(follow(folders[1])).rejects.toThrow('another program has followed the rules of alerts of this store since');
  await follow(folders[0]);
  expect(readFileSync(fileIn(folders[0]), 'utf8')).toBe(id);
});

test('a program that loses its claim follows no rules and says so, until the other one gives it back', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const log: string[] = [];
  const note = (_details: object, message: string) => log.push(message);
  const watch = await watched((await shared.open()).alertClaim, { logger: { info: note, warn: note, error: note } });
  expect([watch.isHeld(), watch.notes()]).toEqual([true, []]);
  const { alertClaim } = await shared.open({}, clickhouseUrl());
  const renewal = await server.break({ kind: 'hold', at: 'before', matching: 'argMax\\(value, changedAt', times: 1 });
  await server.held(renewal);
  await age(shared, CLAIM_EXPIRES_MS);
  expect(await alertClaim.take(OTHER)).toBeNull();
  await server.mend(renewal);
  await expect.poll(() => watch.isHeld()).toBe(false);
  const told = expect.stringMatching(/another program has followed the rules of alerts of this store since \d{4}-.*Z$/);
  expect([log, watch.notes()]).toEqual([[told], [told]]);
  await alertClaim.release(OTHER);
  await expect.poll(() => watch.isHeld()).toBe(true);
  expect([log.at(-1), watch.notes()]).toEqual(['this program follows the rules of alerts again', []]);
});

test('a file of the id that cannot be read ends the start with its path', async () => {
  const { name: database } = await testDatabase();
  const dataDir = temporaryFolder();
  const file = join(dataDir, 'alert-claim-id');
  mkdirSync(file);
  await expect(programOn([clickhouseUrl()], { database, env: { ALERTS: rules(), DATA_DIR: dataDir } })).rejects.toMatchObject({
    code: 'folder_unusable',
    message: expect.stringContaining(`DATA_DIR: "${file}" cannot be used: EISDIR`),
  });
});

/** A folder of ALERTS with a rule that each event of zone 7 is an alert of. */
function rules(): string {
  const folder = join(temporaryFolder(), 'rules');
  mkdirSync(folder);
  writeFileSync(join(folder, 'seven.yaml'), 'name: seven\nzones: [7]\nby: ip\nkind: count\nat_least: 1\nwindow: 10m\n');
  return folder;
}

const REFUSED = new RegExp(
  'ALERTS is set, and another program has followed the rules of alerts of this store since \\S+Z ' +
    '\\(process \\d+ on \\S+ with DATA_DIR=.*\\): set',
);

async function send(address: string): Promise<void> {
  expect((await fetch(`${address}/ingest/events`, { method: 'POST', body: eventLine({ ip: '192.0.2.1' }) })).status).toBe(202);
}

test('of two programs with ALERTS the second does not start until the first has stopped', async () => {
  const { name: database } = await testDatabase();
  const env = { ALERTS: rules() };
  const first = await programOn([clickhouseUrl()], { database, env });
  await expect(programOn([clickhouseUrl()], { database, env })).rejects.toThrow(REFUSED);
  await programOn([clickhouseUrl()], { database });
  await first.stop();
  const second = await programOn([clickhouseUrl()], { database, env });
  await send(second.url);
  await expect.poll(() => metric(second, 'shieldlog_alerts_told_total')).toBe(1);
});

test('a program that has no rule any more says nothing, and leaves the claim to others', async () => {
  const shared = await sharedStore();
  const { database } = shared.address;
  const env = { ALERTS: rules(), DATA_DIR: temporaryFolder() };
  const before = await programOn([clickhouseUrl()], { database, env });
  await expect.poll(() => metric(before, 'shieldlog_alerts_rules')).toBe(1);
  await before.stop();
  rmSync(join(env.ALERTS, 'seven.yaml'));
  const without = await programOn([clickhouseUrl()], { database, env });
  await expect.poll(() => metric(without, 'shieldlog_alerts_rules')).toBe(0);
  await expect.poll(async () => (await shared.rows(CLAIM))[0]?.[0]).toBe('');
  await expect.poll(() => readiness(without)).toEqual({ status: 200, reasons: [] });
  await programOn([clickhouseUrl()], { database, env: { ALERTS: rules() } });
});

test('after a kill the same program starts at once, and another one when the claim has expired', async () => {
  const shared = await sharedStore();
  const { database } = shared.address;
  const env = { STORE: 'clickhouse', CLICKHOUSE_URL: clickhouseUrl(), CLICKHOUSE_DATABASE: database, ALERTS: rules() };
  const serve = (dataDir: string) => ['serve', '--port', '0', '--data-dir', dataDir];
  const [own, foreign] = [temporaryFolder(), temporaryFolder()];
  for (let starts = 0; starts < 2; starts += 1) {
    const program = startCli(serve(own), env);
    await addressOf(program);
    program.child.kill('SIGKILL');
    await program.ended;
  }
  const refused = await runCli(serve(foreign), env);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringMatching(REFUSED)]);
  await age(shared, CLAIM_EXPIRES_MS);
  await addressOf(startCli(serve(foreign), env));
});

test('a program that is started before its server follows rules when the server is there, or says who does', async () => {
  const server = await breakableServer();
  const { name: database } = await testDatabase();
  const env = { ALERTS: rules() };
  await server.goAway();
  const [one, other] = [await programOn([server.url], { database, env }), await programOn([server.url], { database, env })];
  const reasons = async (program: typeof one): Promise<string> => (await readiness(program)).reasons.join('\n');
  for (const program of [one, other]) await expect.poll(() => reasons(program)).toContain('rules of alerts wait for the store');
  await server.comeBack();
  await expect.poll(async () => (await readiness(one)).status).toBe(200);
  await send(one.url);
  const counts = (name: string) => Promise.all([one, other].map((program) => metric(program, name)));
  await expect.poll(() => counts('shieldlog_alerts_told_total')).toContain(1);
  const follows = 'this program follows no rules of alerts until that one stops: another program';
  const refused = async () => (await Promise.all([one, other].map(reasons))).filter((text) => text.includes(follows)).length;
  await expect.poll(refused).toBe(1);
  // A program that follows rules knows how many from its first look on.
  expect((await counts('shieldlog_alerts_rules')).filter((rules) => rules === 1)).toHaveLength(1);
});
