import { expect, test } from 'vitest';
import { alertZone } from '../../../src/alerts/alert-zone.ts';
import { readFields } from '../../../store/feed-event.ts';
import { NOW } from '../../fixtures/present.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { sampleAlert, sampleMessage, sampleSent } from './sample-alerts.ts';

const FOREVER = new AbortController().signal;
const HOUR = 3_600_000;

async function zoneIn(folder: string) {
  const store = await storeIn(folder);
  const zone = alertZone(99, { store, retentionMs: RETENTION_MS, now: () => NOW });
  const events = async () => {
    const { lines } = await store.readFeed({ zones: [99], after: await store.positions.oldest(), limit: 100 });
    return lines.map((line) => ({ ...readFields(line), text: line.bytes.toString('utf8', line.start, line.end) }));
  };
  return { store, zone, events };
}

const times = { fromMs: NOW - HOUR, toMs: NOW - HOUR / 2, completedAtMs: NOW - HOUR + 1, toldAtMs: NOW - HOUR + 2 };
const told = sampleMessage(1, { alert: sampleAlert(1, times) });
const resolved = sampleMessage(1, { state: 'resolved', alert: sampleAlert(1, { ...times, resolvedAtMs: NOW - 5 }) });

test('an alert is an event of the zone, and so is its resolution; the same ones again are stored once', async () => {
  const { zone, events } = await zoneIn(temporaryFolder());
  expect(await zone.deliver(sampleSent(told, resolved), FOREVER)).toBe('accepted 2 (0 stored already), expired 0, rejected 0');
  expect(await zone.deliver(sampleSent(told, resolved), FOREVER)).toBe('accepted 2 (2 stored already), expired 0, rejected 0');
  const stored = await events();
  const common = { zoneId: 99, fields: { feature: 'alert', ruleId: 'credential-stuffing', action: 'logged' } };
  expect(stored).toMatchObject([
    { ...common, timestamp: NOW - HOUR + 1 },
    { ...common, timestamp: NOW - 5 },
  ]);
  const [first, second] = stored.map(({ text }) => JSON.parse(text));
  expect([first.logId, second.logId]).toEqual([told.alert.id, `${told.alert.id}-resolved`]);
  expect(first.ruleName).toMatch(/^Alert credential-stuffing, severity high: ip 192\.0\.2\.1, windows from /);
  expect(first.log).toMatchObject({ rule: 'credential-stuffing', version: told.rule.version, id: told.alert.id, state: 'told', hits: 1 });
});

test('an alert that is past the retention is counted', async () => {
  const { zone, events } = await zoneIn(temporaryFolder());
  const old = sampleMessage(1, { alert: sampleAlert(1, { completedAtMs: NOW - RETENTION_MS - 1 }) });
  expect(await zone.deliver(sampleSent(old), FOREVER)).toBe('accepted 0 (0 stored already), expired 1, rejected 0');
  expect(await events()).toEqual([]);
});

test('a store that takes nothing in is asked again', async () => {
  const { zone, store } = await zoneIn(temporaryFolder());
  await store.close();
  await expect(zone.deliver(sampleSent(told), FOREVER)).rejects.toMatchObject({ name: 'DeliveryError', code: 'unavailable' });
});
