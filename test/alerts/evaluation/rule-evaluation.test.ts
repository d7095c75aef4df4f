import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { ALERT_ZONE_QUEUE } from '../../../alerts/evaluation/outbox.ts';
import { HOUR_MS, MINUTE_MS } from '../../../query/durations.ts';
import { evaluate, evaluatedStore, KeeperHere, keptIn, messagesIn, overviewOf, rulesOf, ruleText } from './evaluated-feed.ts';

describe('a rule', () => {
  test('that is new reads what was stored in the time of a window, and goes on with what comes', async () => {
    const { append, run, clock } = await evaluatedStore();
    await append(2, 30 * MINUTE_MS);
    clock.nowMs += 20 * MINUTE_MS;
    await append(1);
    const keeper = await run([ruleText()]);
    expect(messagesIn(keeper)).toEqual([]);
    await append(1);
    expect(messagesIn(await run([ruleText()])).map(({ state }) => state)).toEqual(['told']);
  });

  test('is told once, and resolved once it has been quiet', async () => {
    const { append, run, clock } = await evaluatedStore();
    await run([ruleText()]);
    await append(5);
    const [told] = messagesIn(await run([ruleText()]));
    expect(told).toMatchObject({ state: 'told', rule: { name: 'a-rule', severity: 'medium', by: ['country'], zones: 'all' } });
    clock.nowMs += HOUR_MS;
    const states = messagesIn(await run([ruleText()])).map(({ state, alert }) => [state, alert.id]);
    expect(states).toEqual([
      ['told', told?.alert.id],
      ['resolved', told?.alert.id],
    ]);
  });

  test.each([
    ['gone', [], 'rule_gone'],
    ['changed', [ruleText({ at_least: 50 })], 'rule_changed'],
  ] as const)('that is %s resolves its alerts, with this reason', async (_, texts, earlyEnd) => {
    const { append, run } = await evaluatedStore();
    await run([ruleText()]);
    await append(2);
    await run([ruleText()]);
    const messages = messagesIn(await run(texts));
    expect(messages.map((message) => [message.state, message.earlyEnd])).toEqual([
      ['told', null],
      ['resolved', earlyEnd],
    ]);
    expect(messages[1]?.alert.resolvedAtMs).toBe(messages[0]?.alert.toldAtMs);
  });

  test('that is gone has its resolutions queued at the clock, so that they are not given up after a stop of days', async () => {
    const { append, run } = await evaluatedStore();
    await run([ruleText()]);
    await append(2);
    await run([ruleText()]);
    const beforeMs = Date.now();
    const keeper = await run([]);
    const queues = { queues: ['mail'], queuedBeforeMs: beforeMs, most: 10, atMs: beforeMs };
    expect(keeper.call('giveUp', queues)).toBe(1);
    expect(messagesIn(keeper).map(({ state }) => state)).toEqual(['resolved']);
  });

  test('that is changed, and then as it was, finds the alerts that it has told', async () => {
    const { append, run } = await evaluatedStore();
    await run([ruleText()]);
    await append(2);
    await run([ruleText()]);
    await run([ruleText({ at_least: 50 })]);
    expect(messagesIn(await run([ruleText()])).map(({ state }) => state)).toEqual(['told', 'resolved']);
  });

  test('whose labels, severity and receivers alone are others goes on as it was', async () => {
    const { append, run } = await evaluatedStore();
    await run([ruleText()]);
    await append(1);
    await run([ruleText()]);
    await append(1);
    const keeper = await run([ruleText({ severity: 'high', receivers: '[pager]' })]);
    expect(messagesIn(keeper, 'pager').map(({ rule }) => rule.severity)).toEqual(['high']);
    expect(messagesIn(keeper)).toEqual([]);
  });

  test.each([
    ['is wrong', ['0.yaml'], 1],
    ['cannot be read, as all others', 'all', 1],
    ['is gone', [], 0],
  ] as const)('whose file %s', async (_, wrongFiles, rules) => {
    const { append, run } = await evaluatedStore();
    await run([ruleText()]);
    await append(1);
    await run([ruleText()]);
    await append(1);
    const keeper = await run([], { wrongFiles });
    expect(overviewOf(keeper).rules).toHaveLength(rules);
    expect(messagesIn(keeper)).toHaveLength(rules);
  });

  test('that only an earlier program took ends where its file is wrong, and others go on', async () => {
    const { append, run, file } = await evaluatedStore();
    const other = ruleText({ name: 'another' });
    await run([other, ruleText()]);
    await append(2);
    await run([other, ruleText()]);
    {
      using database = new DatabaseSync(file);
      database.exec(`UPDATE rules SET rule = json_set(rule, '$.text', 'name: a-rule') WHERE name = 'a-rule'`);
    }
    const keeper = await run([other], { wrongFiles: ['1.yaml'] });
    const { rules, facts } = overviewOf(keeper);
    expect([rules.map(({ name }) => name), facts.refusals]).toEqual([['another'], {}]);
    expect(keptIn(file).messages.map(({ rule, state }) => [rule, state])).toEqual([
      ['a-rule', 'told'],
      ['a-rule', 'resolved'],
      ['another', 'told'],
    ]);
  });

  test('that begins while others go on reads by itself first, in pages that take turns with theirs', async () => {
    const { append, run, store, file } = await evaluatedStore();
    const [first, second] = [ruleText(), ruleText({ name: 'another', at_least: 3 })];
    await run([first]);
    await append(4);
    const keeper = new KeeperHere({ file, rules: rulesOf(first, second) });
    await evaluate({ keeper, store, limit: () => 1 });
    expect(overviewOf(keeper).rules.map(({ name, hasJoined, open }) => [name, hasJoined, open])).toEqual([
      ['a-rule', true, 1],
      ['another', true, 1],
    ]);
    expect(keptIn(file).folds.flatMap(({ rows }) => rows)).toHaveLength(8);
  });
});

describe('an alert', () => {
  test('that is too old when it is told is kept, and not sent to receivers, nor is its resolution', async () => {
    const { append, run, clock } = await evaluatedStore();
    await run([ruleText({ max_age: '1h' })], { alsoTo: [ALERT_ZONE_QUEUE] });
    await append(2, 3 * HOUR_MS);
    await run([ruleText({ max_age: '1h' })], { alsoTo: [ALERT_ZONE_QUEUE] });
    clock.nowMs += HOUR_MS;
    const keeper = await run([ruleText({ max_age: '1h' })], { alsoTo: [ALERT_ZONE_QUEUE] });
    expect(messagesIn(keeper)).toEqual([]);
    expect(messagesIn(keeper, ALERT_ZONE_QUEUE).map(({ state }) => state)).toEqual(['told', 'resolved']);
    expect(overviewOf(keeper).alerts.map(({ told }) => told.kept)).toEqual(['too_old']);
  });

  const silenceAt = (nowMs: number) => ({ zones: 'all', fromMs: nowMs, toMs: nowMs + HOUR_MS, reason: 'a test' }) as const;

  test.each([
    ['its rule', { rule: 'a-rule', group: null }, 'silenced'],
    ['its group', { rule: 'a-rule', group: ['DE'] }, 'silenced'],
    ['another group', { rule: 'a-rule', group: ['NL'] }, null],
    ['another rule', { rule: 'another', group: null }, null],
  ] as const)('during a silence of %s', async (_, silence, kept) => {
    const { append, run, clock } = await evaluatedStore();
    const keeper = await run([ruleText()]);
    const made = keeper.call('addSilence', { ...silenceAt(clock.nowMs), ...silence });
    expect(overviewOf(keeper).silences).toEqual([made]);
    await append(2);
    await run([ruleText()]);
    clock.nowMs += 2 * HOUR_MS;
    const after = await run([ruleText()]);
    expect(overviewOf(after).alerts.map(({ told }) => told.kept)).toEqual([kept]);
    expect(messagesIn(after)).toHaveLength(kept === null ? 2 : 0);
    expect([after.call('removeSilence', made.id), after.call('removeSilence', made.id)]).toEqual([true, false]);
  });

  test.each([
    { made: 'all', now: '7', kept: 'silenced' },
    { made: [7], now: '7', kept: 'silenced' },
    { made: [7, 8], now: '[8, 7]', kept: 'silenced' },
    { made: [7], now: '[7, 8]', kept: null },
    { made: [7], now: 'all', kept: null },
  ] as const)('during a silence that was made for the zones $made, where the rule now has $now', async ({ made, now, kept }) => {
    const { append, run, clock } = await evaluatedStore();
    const text = ruleText({ zones: now });
    const keeper = await run([text]);
    keeper.call('addSilence', { ...silenceAt(clock.nowMs), rule: 'a-rule', zones: made, group: null });
    await append(2);
    expect(overviewOf(await run([text])).alerts.map(({ told }) => told.kept)).toEqual([kept]);
  });

  test.each([
    ['behind that by which it was told', true],
    ['by which it was told', false],
  ])('that gives way to another one with the page %s is resolved for its receivers', async (_, isReadBetween) => {
    const { append, run } = await evaluatedStore();
    const text = ruleText({ at_least: 1 });
    await run([text], { maxAlerts: 1 });
    for (const country of ['DE', 'NL']) {
      await append(1, 0, { country });
      if (isReadBetween) await run([text], { maxAlerts: 1 });
    }
    const keeper = await run([text], { maxAlerts: 1 });
    const messages = messagesIn(keeper).map(({ state, alert }) => [state, alert.group[0]?.text]);
    expect(messages).toEqual([
      ['told', 'DE'],
      ['resolved', 'DE'],
      ['told', 'NL'],
    ]);
  });

  test('silences that ended before the retention go when another one is made', async () => {
    const { append, run, clock } = await evaluatedStore();
    const keeper = await run([ruleText()]);
    const made = (nowMs: number) => keeper.call('addSilence', { ...silenceAt(nowMs), rule: 'a-rule', group: null });
    made(clock.nowMs);
    clock.nowMs += 72 * HOUR_MS;
    const kept = made(clock.nowMs - 2 * HOUR_MS);
    clock.nowMs += 2 * HOUR_MS;
    await append(1);
    const later = await run([ruleText()]);
    const last = later.call('addSilence', { ...silenceAt(clock.nowMs), rule: 'a-rule', group: null });
    expect(overviewOf(later).silences).toEqual([kept, last]);
  });

  test('is sent again behind the end of a silence alone', async () => {
    const { append, run, clock } = await evaluatedStore();
    const keeper = await run([ruleText()]);
    keeper.call('addSilence', { ...silenceAt(clock.nowMs), rule: 'a-rule', group: null });
    clock.nowMs += HOUR_MS;
    await append(2);
    expect(messagesIn(await run([ruleText()]))).toHaveLength(1);
  });
});

describe('a cursor', () => {
  test('that is ahead, where the end is known, goes on there with what rules know', async () => {
    const { append, run, file, store } = await evaluatedStore();
    await append(1);
    await run([ruleText()]);
    // The cursor of a copy of the store that had more events.
    const ahead = await cursorAheadOf(store.positions.encode(await store.positions.newest()));
    setCursor(file, ahead);
    await append(1);
    const keeper = await run([ruleText()]);
    expect(overviewOf(keeper).facts.refusals).toEqual({ ahead: 1, last: 'ahead' });
    await append(1);
    expect(messagesIn(await run([ruleText()]))).toHaveLength(1);
  });

  test('of another store lets rules begin as new ones, and alerts stay as they are', async () => {
    const { append, run, file, clock } = await evaluatedStore();
    await append(2);
    await run([ruleText()]);
    setCursor(file, 'AQAAAAAAAAAAAAAAAAAAAAAAAAAA');
    clock.nowMs += HOUR_MS;
    const keeper = await run([ruleText()]);
    const { facts, rules, alerts } = overviewOf(keeper);
    expect([facts.refusals, rules.map(({ hasJoined }) => hasJoined)]).toEqual([{ unknown: 1, last: 'unknown' }, [true]]);
    expect(alerts.map(({ alert }) => alert.hits)).toHaveLength(1);
    expect(messagesIn(keeper).map(({ state }) => state)).toEqual(['told', 'resolved']);
  });

  test('behind which events have expired goes on with what is left', async () => {
    const { append, run, store, clock } = await evaluatedStore();
    await append(1);
    await run([ruleText()]);
    await append(5);
    await store.settle();
    clock.nowMs += 80 * HOUR_MS;
    await store.expire();
    await append(2);
    const keeper = await run([ruleText()]);
    expect(overviewOf(keeper).facts.refusals).toEqual({ expired: 1, last: 'expired' });
    expect(messagesIn(keeper)).toHaveLength(1);
  });
});

describe('events', () => {
  test('of its zones that were read, and that it is about, are counted by each rule, over a restart, too', async () => {
    const { append, run } = await evaluatedStore();
    const texts = [
      ruleText({ name: 'every-event', at_least: 100 }),
      ruleText({ name: 'of-seven', zones: '[7, 9]', search: 'url:~login', at_least: 100 }),
      ruleText({ name: 'of-eight', zones: 8, search: 'country:NL', at_least: 100 }),
      ruleText({ name: 'silent', kind: 'silence', for: '5m', at_least: undefined, window: undefined, by: undefined }),
    ];
    const countsOf = (keeper: KeeperHere) => overviewOf(keeper).rules.map(({ name, ...counts }) => [name, counts.read, counts.counted]);
    await append(3, 0, { url: '/login' });
    await append(2);
    await append(4, 0, { shieldZoneId: 8, country: 'NL' });
    await append(5, 0, { shieldZoneId: 99 });
    const once = [
      ['every-event', 9, 9],
      ['of-seven', 5, 3],
      ['of-eight', 4, 4],
      ['silent', 0, 0],
    ];
    expect(countsOf(await run(texts, { exceptZone: 99 }))).toEqual(once);
    await append(1, 0, { url: '/login' });
    await append(1, 0, { shieldZoneId: 8, country: 'NL' });
    const twice = [
      ['every-event', 11, 11],
      ['of-seven', 6, 4],
      ['of-eight', 5, 5],
      ['silent', 0, 0],
    ];
    expect(countsOf(await run(texts, { exceptZone: 99 }))).toEqual(twice);
  });

  test('that cannot be read are counted by the rule, which goes on with what is left', async () => {
    const { append, run, store, file } = await evaluatedStore();
    await run([ruleText()]);
    await append(3);
    await store.settle('flush');
    rmSync(join(dirname(file), 'segments'), { recursive: true });
    await append(1);
    const keeper = await run([ruleText()]);
    expect(overviewOf(keeper).rules).toMatchObject([{ unreadable: 3, open: 0 }]);
    await append(1);
    // A new rule lacks them, too, because it reads back what is stored.
    const later = await run([ruleText(), ruleText({ name: 'another', receivers: undefined })]);
    expect(overviewOf(later).rules).toMatchObject([
      { name: 'a-rule', unreadable: 3, open: 1 },
      { name: 'another', unreadable: 3, open: 1 },
    ]);
    expect(messagesIn(later)).toHaveLength(1);
  });
});

/** The cursor with a sequence that is higher by a thousand. */
async function cursorAheadOf(cursor: string): Promise<string> {
  const { crc32 } = await import('node:zlib');
  const bytes = Buffer.from(cursor, 'base64url');
  bytes.writeUIntBE(bytes.readUIntBE(7, 6) + 1_000, 7, 6);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 17)), 17);
  return bytes.toString('base64url');
}

function setCursor(file: string, cursor: string): void {
  using database = new DatabaseSync(file);
  database.prepare("UPDATE progress SET progress = json_set(progress, '$.cursor', ?)").run(cursor);
}
