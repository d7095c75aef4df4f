import { mkdirSync, readdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { AlertState, AlertStateError, isStateLost } from '../../../alerts/evaluation/alert-state.ts';
import { NOW } from '../../fixtures/present.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { evaluate, evaluatedStore, KeeperHere, keptIn, messagesIn, overviewOf, rulesOf, ruleText } from './evaluated-feed.ts';

/** Makes a defect, after which the file is closed until the next call. Returns what it throws. */
function closeByAnError(keeper: KeeperHere, file: string): unknown {
  using other = new DatabaseSync(file);
  other.exec('DROP TABLE silences');
  try {
    return overviewOf(keeper);
  } catch (error) {
    return error;
  }
}

/** Changes texts of a state by a statement, behind the back of the program. */
function damageTexts(file: string, statement: string): void {
  using database = new DatabaseSync(file);
  expect(database.prepare(statement).run().changes).toBeGreaterThan(0);
}

describe('the state', () => {
  test('that is lost is begun anew, with what is stored in the time of a window', async () => {
    const { append, run, file } = await evaluatedStore();
    await append(1);
    await run([ruleText()]);
    for (const beside of ['', '-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
    await append(1);
    const keeper = await run([ruleText()]);
    expect(messagesIn(keeper)).toHaveLength(1);
    expect(overviewOf(keeper).facts.refusals).toEqual({ lost: 1, last: 'lost' });
    closeByAnError(keeper, file);
    expect(overviewOf(keeper).facts.refusals).toEqual({ lost: 1, last: 'lost' });
  });

  test.each([
    ['has its tables alone', (file: string) => new AlertState(file)[Symbol.dispose]()],
    [
      'has no tables',
      (file: string) => {
        using database = new DatabaseSync(file);
        database.exec('PRAGMA journal_mode = WAL');
      },
    ],
    ['is empty', (file: string) => writeFileSync(file, '')],
  ])('that is lost is counted where the start that found it was killed, and the file that it made %s', (_, leave) => {
    const file = join(temporaryFolder(), 'alerts.sqlite');
    writeFileSync(join(dirname(file), 'alerts-kept'), '');
    leave(file);
    const keeper = new KeeperHere({ file, rules: rulesOf(ruleText()) });
    expect(overviewOf(keeper).facts.refusals).toEqual({ lost: 1, last: 'lost' });
  });

  test('is lost where it was kept, and its file is gone or empty', () => {
    const file = join(temporaryFolder(), 'alerts.sqlite');
    expect(isStateLost(file)).toBe(false);
    writeFileSync(join(dirname(file), 'alerts-kept'), '');
    expect(isStateLost(file)).toBe(true);
    writeFileSync(file, '');
    expect(isStateLost(file)).toBe(true);
    new AlertState(file)[Symbol.dispose]();
    expect(isStateLost(file)).toBe(false);
  });

  test('whose mark cannot be written cannot be used until it can', () => {
    const file = join(temporaryFolder(), 'alerts.sqlite');
    // Nothing is written through a link to nowhere.
    symlinkSync('/nowhere/at-all', join(dirname(file), 'alerts-kept'));
    const keeper = new KeeperHere({ file, rules: rulesOf(ruleText()) });
    const cannotBeWritten = new AlertStateError('the file alerts-kept beside alerts.sqlite cannot be written: no such file or directory');
    for (let times = 0; times < 2; times += 1) expect(() => keeper.call('next')).toThrow(cannotBeWritten);
    rmSync(join(dirname(file), 'alerts-kept'));
    expect(keeper.call('next')).toMatchObject({ facts: { rules: 1, refusals: {} } });
  });

  test('that is damaged is set aside, which the error says, and begun anew', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'alerts.sqlite');
    const keeper = new KeeperHere({ file, rules: rulesOf(ruleText()) });
    for (const times of [1, 2]) {
      writeFileSync(file, 'no database '.repeat(1_000));
      expect(() => keeper.call('next')).toThrow(/damaged, .*; its file is "damaged-\d+-alerts\.sqlite" now, and rules begin as new ones$/);
      expect(keeper.call('next')).toMatchObject({ facts: { rules: 1, refusals: { damaged: times, last: 'damaged' } } });
      closeByAnError(keeper, file);
    }
    // The next start knows it, too.
    expect(overviewOf(new KeeperHere({ file, rules: rulesOf(ruleText()) })).facts.refusals).toEqual({ damaged: 2, last: 'damaged' });
    expect(readdirSync(folder).some((name) => name.startsWith('damaged-'))).toBe(true);
  });

  test.each([
    ['of the progress is cut', "UPDATE progress SET progress = '{'"],
    ['of the progress is another', "UPDATE progress SET progress = 'null'"],
    ['of a rule is another', "UPDATE rules SET rule = 'null'"],
    ['of what a rule knows is cut', 'UPDATE fold_log SET changes = substr(changes, 1, 9)'],
    ['of an alert is another', "UPDATE alerts SET alert = 'null'"],
    ['of what a rule knows is another', "UPDATE fold_log SET changes = 'null'"],
  ])('in which a text %s is set aside, too, though SQLite reads it', async (_, damage) => {
    const { append, run, file } = await evaluatedStore();
    await append(1);
    await run([ruleText({ at_least: 1 })]);
    damageTexts(file, damage);
    const keeper = new KeeperHere({ file, rules: rulesOf(ruleText({ at_least: 1 })) });
    expect(() => keeper.call('next')).toThrow(/damaged, .*; its file is "damaged-\d+-alerts\.sqlite" now, and rules begin as new ones$/);
    expect(keeper.call('next')).toMatchObject({ facts: { rules: 1, refusals: { damaged: 1, last: 'damaged' } } });
  });

  test.each([
    ['of an alert is cut', 'UPDATE alerts SET alert = substr(alert, 1, 20)'],
    ['of to whom it was told is cut', 'UPDATE alerts SET told = substr(told, 1, 20)'],
    ['of to whom it was told lacks a member', "UPDATE alerts SET told = replace(told, 'zones', 'zonez')"],
    ['of a message is cut', 'UPDATE outbox SET message = substr(message, 1, 20)'],
    ['of a message lacks a member', "UPDATE outbox SET message = replace(message, 'rule', 'ruler')"],
    ['of what became of a message is cut', "UPDATE outbox SET outcome = '{'"],
    ['of what became of a message is another', "UPDATE outbox SET outcome = '[7]'"],
    ['of the zones of a silence is cut', "UPDATE silences SET zones = '['"],
    ['of the group of a silence is another', "UPDATE silences SET group_values = '7'"],
  ])('in which a text %s that was right at the opening is set aside when it is read', async (_, damage) => {
    const { append, run, file } = await evaluatedStore();
    await append(1);
    const keeper = await run([ruleText({ at_least: 1 })]);
    keeper.call('addSilence', { rule: 'a-rule', zones: 'all', group: null, fromMs: 0, toMs: NOW, reason: 'a load test' });
    expect(overviewOf(keeper)).toMatchObject({ alerts: [{}], deliveries: [{}], silences: [{}] });
    damageTexts(file, damage);
    expect(() => overviewOf(keeper)).toThrow(/damaged, .*; its file is "damaged-\d+-alerts\.sqlite" now, and rules begin as new ones$/);
    expect(overviewOf(keeper)).toMatchObject({ alerts: [], silences: [], facts: { refusals: { damaged: 1, last: 'damaged' } } });
  });

  test.each([
    ['an earlier', 1],
    ['a later', 4],
  ])('of %s program is refused, and stays as it is', (writer, form) => {
    const file = join(temporaryFolder(), 'alerts.sqlite');
    using database = new DatabaseSync(file);
    database.exec(`PRAGMA user_version = ${form}`);
    const keeper = new KeeperHere({ file, rules: [] });
    const refused = new AlertStateError(`alerts.sqlite is of form ${form}, and this program knows 3: ${writer} program wrote it`);
    for (let times = 0; times < 2; times += 1) expect(() => keeper.call('next')).toThrow(refused);
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: form });
    expect(database.prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
  });

  test('that is no file cannot be used until it is one; what is no fault of the file stays a defect', () => {
    const file = join(temporaryFolder(), 'alerts.sqlite');
    mkdirSync(file);
    const keeper = new KeeperHere({ file, rules: rulesOf(ruleText()) });
    const cannotBeUsed = new AlertStateError('the state of alerts, alerts.sqlite, cannot be used: unable to open database file');
    for (let times = 0; times < 2; times += 1) expect(() => keeper.call('next')).toThrow(cannotBeUsed);
    rmdirSync(file);
    expect(keeper.call('next')).toMatchObject({ facts: { rules: 1 } });
    expect(closeByAnError(keeper, file)).not.toBeInstanceOf(AlertStateError);
    // A table that is gone comes back with the state.
    expect(overviewOf(keeper).silences).toEqual([]);
  });

  test('lists alerts and messages of a rule with one list of its zones, however many they are', async () => {
    const { append, run } = await evaluatedStore();
    for (const country of ['DE', 'NL', 'PL']) await append(1, 0, { country });
    const { alerts, deliveries } = overviewOf(await run([ruleText({ at_least: 1, zones: '[7, 8]' })]));
    for (const rules of [alerts.map(({ told }) => told.rule), deliveries.map(({ rule }) => rule)]) {
      expect(rules).toHaveLength(3);
      expect(new Set(rules.map(({ zones }) => zones))).toEqual(new Set([[7, 8]]));
    }
  });

  test('is as it was where a page cannot be written, and the page is counted once it can', async () => {
    const { append, store, file, run } = await evaluatedStore();
    const keeper = await run([ruleText()]);
    await append(2);
    {
      using other = new DatabaseSync(file);
      // Every write of an alert fails, as on a full disk.
      other.exec("CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
      const before = keptIn(file);
      await expect(evaluate({ keeper, store })).rejects.toThrow('the disk is full');
      expect(keptIn(file)).toEqual(before);
      other.exec('DROP TRIGGER full');
    }
    await evaluate({ keeper, store });
    expect(messagesIn(keeper)).toHaveLength(1);
  });
});
