import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { ToldRule } from '../../../alerts/evaluation/outbox.ts';
import { OUTBOX_SCHEMA, OutboxTable } from '../../../alerts/evaluation/outbox-table.ts';
import { PreparedSql } from '../../../alerts/evaluation/prepared-sql.ts';

const ALERT = {
  ...{ nth: 1, group: [], windowMs: 0, fromMs: 0, toMs: 0, hits: 1, toldAtMs: 0, completedAtMs: 0, resolvesAtMs: 1 },
  ...{ resolvedAtMs: null, isBounded: false },
};

function ruleNamed(name: string, version = 'v1'): ToldRule {
  return { name, version, severity: 'low', labels: {}, by: [], zones: 'all' };
}

function outboxWith(...messages: readonly (readonly [id: string, rule: ToldRule, queuedAtMs?: number])[]): OutboxTable {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  database.exec(OUTBOX_SCHEMA);
  const outbox = new OutboxTable(new PreparedSql(database));
  for (const [id, rule, queuedAtMs = 0] of messages) {
    outbox.add(['mail', 'pager'], { state: 'told', rule, alert: { ...ALERT, id }, earlyEnd: null, queuedAtMs });
  }
  return outbox;
}

const [A, B] = [ruleNamed('a'), ruleNamed('b')];
const ANY = { limit: 10, except: [] };

const idsIn = (outbox: OutboxTable, queue: string, options = ANY) =>
  outbox.waiting(queue, options)?.messages.map(({ alert }) => alert.id) ?? [];

test('the messages of the rule that waits longest come first, without those of rules that are left out', () => {
  const outbox = outboxWith(['1', A], ['2', B], ['3', A], ['4', ruleNamed('a', 'v2')]);
  expect(outbox.waiting('mail', { limit: 1, except: [] })).toMatchObject({ messages: [{ alert: { id: '1' } }], total: 2, lastSeq: 5 });
  expect(idsIn(outbox, 'mail')).toEqual(['1', '3']);
  expect(idsIn(outbox, 'mail', { limit: 10, except: ['a'] as never })).toEqual(['2']);
  expect(outbox.waiting('mail', { limit: 10, except: ['a', 'b'] })).toBeNull();
  expect(outbox.waiting('nobody', ANY)).toBeNull();
});

test('what is settled in a queue waits no longer there, and waits in the others', () => {
  const outbox = outboxWith(['1', A], ['2', B], ['3', A]);
  outbox.settle('mail', A, 1, { kind: 'delivered', atMs: 5 });
  outbox.settle('mail', B, 3, { kind: 'refused', atMs: 6, answer: '404' });
  expect([idsIn(outbox, 'mail'), idsIn(outbox, 'pager')]).toEqual([['3'], ['1', '3']]);
  const listed = outbox.latest(10).map(({ queue, alertId, outcome }) => [queue, alertId, outcome?.answer]);
  expect(listed).toContainEqual(['mail', '2', '404']);
  expect(listed.at(-1)).toEqual(['mail', '1', undefined]);
});

test('a message is in a queue once, also after it was settled and kept', () => {
  const outbox = outboxWith(['1', A]);
  outbox.settle('mail', A, 9, { kind: 'refused', atMs: 5, answer: 'no' });
  outbox.add(['mail', 'pager'], { state: 'told', rule: A, alert: { ...ALERT, id: '1' }, earlyEnd: null, queuedAtMs: 7 });
  expect([idsIn(outbox, 'mail'), idsIn(outbox, 'pager')]).toEqual([[], ['1']]);
});

test('what has waited for too long, and all but the newest of a queue, are given up and listed', () => {
  const outbox = outboxWith(['1', A, 10], ['2', A, 20], ['3', B, 30], ['4', A, 40]);
  expect(outbox.giveUp({ queues: ['mail', 'pager'], queuedBeforeMs: 20, most: 2, atMs: 99 })).toBe(4);
  expect([idsIn(outbox, 'mail'), idsIn(outbox, 'mail', { limit: 10, except: ['b'] as never })]).toEqual([['3'], ['4']]);
  const answers = outbox.latest(10).map(({ alertId, outcome }) => [alertId, outcome?.answer ?? null]);
  expect(answers).toContainEqual(['1', 'it had waited for too long']);
  expect(answers).toContainEqual(['2', 'more than 2 messages waited']);
});

test('what waits in a queue that nobody delivers from is given up and listed', () => {
  const outbox = outboxWith(['1', A, 10], ['2', B, 20]);
  expect(outbox.giveUp({ queues: ['mail', 'other'], queuedBeforeMs: 0, most: 2, atMs: 99 })).toBe(2);
  expect([idsIn(outbox, 'mail'), idsIn(outbox, 'mail', { limit: 10, except: ['a'] as never }), idsIn(outbox, 'pager')]).toEqual([
    ['1'],
    ['2'],
    [],
  ]);
  const answers = outbox.latest(10).map(({ queue, alertId, outcome }) => [queue, alertId, outcome?.answer ?? null]);
  for (const id of ['1', '2']) expect(answers).toContainEqual(['pager', id, 'there is no receiver of this name any more']);
});

test('a hundred messages of a queue that were delivered are kept, and as many that were not, which are listed first', () => {
  const [some, others] = [0, 200].map((from) => Array.from({ length: 130 }, (_, nth) => `${from + nth}`)) as [string[], string[]];
  const outbox = outboxWith(...some.map((id) => [id, A] as const), ...others.map((id) => [id, B] as const));
  outbox.settle('mail', A, 1_000, { kind: 'given_up', atMs: 5, answer: 'no' });
  outbox.settle('mail', B, 1_000, { kind: 'delivered', atMs: 5 });
  const kept = outbox.latest(1_000).filter(({ queue }) => queue === 'mail');
  expect(kept.map(({ alertId }) => alertId)).toEqual([...some.slice(30).toReversed(), ...others.slice(30).toReversed()]);
  // Those that wait are listed before what was delivered later.
  expect(outbox.latest(360).map(({ outcome }) => outcome?.kind)).not.toContain('delivered');
});
