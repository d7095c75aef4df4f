import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AlertKeeper } from '../../../alerts/evaluation/alert-keeper.ts';
import type { PageOfEvents } from '../../../alerts/evaluation/feed-pages.ts';
import type { NextStep } from '../../../alerts/evaluation/rule-evaluation.ts';
import { DAY_MS } from '../../../query/durations.ts';
import { NOW } from '../../fixtures/present.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { rulesOf, ruleText } from './evaluated-feed.ts';

const RETENTION_MS = 3 * DAY_MS;
const PAGE_BYTES = 4 * 1024 * 1024;

const LARGEST = { at_least: 1_000_000_000, window: '24h', max_groups: 500_000 };
const RULES = rulesOf(
  ruleText({ ...LARGEST, name: 'long-groups', by: '[ua, url, ip]' }),
  ruleText({ ...LARGEST, name: 'short-groups', by: 'ip' }),
  ruleText({ ...LARGEST, name: 'values', kind: 'distinct', field: 'url', at_least: 10_000, by: 'country' }),
  ruleText({
    ...{ name: 'memory', kind: 'new_value', field: 'ip', max_groups: 500_000 },
    ...{ by: undefined, at_least: undefined, window: undefined },
  }),
);

/** A page as large as the feed makes them, of events that all differ. The values are as long as they are kept, or short. */
function eventsOf(nth: number): Pick<PageOfEvents, 'bytes' | 'ends' | 'ingestedAtMs'> {
  const [ends, ingestedAtMs, lines]: [number[], number[], Buffer[]] = [[], [], []];
  const long = nth % 2 === 0 ? '.'.repeat(240) : '';
  for (let length = 0, at = 0; length < PAGE_BYTES; at += 1) {
    const id = `${nth}-${at}`;
    const fields = { ip: id, ua: `${long}${id}`, url: `${long}${id}`, country: `${at % 100}` };
    const line = Buffer.from(JSON.stringify({ logId: id, shieldZoneId: 7, timestamp: NOW + (at % 7) * 60_000, ...fields }));
    lines.push(line);
    length += line.length;
    ends.push(length);
    ingestedAtMs.push(NOW - 1);
  }
  return { bytes: new Uint8Array(Buffer.concat(lines)), ends, ingestedAtMs };
}

const none = () => ({ bytes: new Uint8Array(), ends: [], ingestedAtMs: [] });

function pageOf(
  { wanted }: NextStep,
  hasReachedUntil: boolean,
  events: Pick<PageOfEvents, 'bytes' | 'ends' | 'ingestedAtMs'>,
): PageOfEvents {
  // The time is that before the rules began, so that what is new is no hit yet.
  return { key: wanted?.key ?? '', end: `behind ${wanted?.key}`, hasReachedUntil, completeToMs: NOW - 1, unreadable: 0, ...events };
}

test('rules that keep as much as they may, in every kind, stay within the heap of the thread', async () => {
  const file = join(temporaryFolder(), 'alerts.sqlite');
  const start = () => {
    const keeper = new AlertKeeper({ file, rules: RULES, wrongFiles: [], retentionMs: RETENTION_MS, alsoTo: [] });
    onTestFinished(() => keeper.close());
    return keeper;
  };
  const first = start();
  const time = { ...pageOf(await first.next(), true, none()), completeToMs: NOW };
  let step = await first.takePage(time, NOW);
  // First the rules with windows read back. Then the one that remembers values takes turns with those.
  for (let nth = 1; nth <= 6; nth += 1) step = await first.takePage(pageOf(step, nth === 6, eventsOf(nth)), NOW);
  for (let nth = 1; nth <= 12; nth += 1) {
    const hasJoined = step.wanted?.until === null;
    step = await first.takePage(pageOf(step, nth > 10, hasJoined ? none() : eventsOf(nth)), NOW);
  }
  const before = await first.overview({ limit: 10 });
  expect(before.rules.map(({ hasJoined }) => hasJoined)).toEqual([true, true, true, true]);
  expect(before.rules.some(({ bounded }) => bounded > 0)).toBe(true);
  await first.close();
  // The next program has all of it to read.
  const second = start();
  await second.takePage(pageOf(await second.next(), true, none()), NOW);
  expect((await second.overview({ limit: 10 })).rules.map(({ bounded }) => bounded)).toEqual(before.rules.map(({ bounded }) => bounded));
});

test('says when there are messages, and knows the rules that are followed', async () => {
  const file = join(temporaryFolder(), 'alerts.sqlite');
  const rules = rulesOf(ruleText({ at_least: 1, by: '[]' }));
  const keeper = new AlertKeeper({ file, rules, wrongFiles: [], retentionMs: RETENTION_MS, alsoTo: [] });
  onTestFinished(() => keeper.close());
  let step = await keeper.next();
  const line = Buffer.from(JSON.stringify({ logId: 'a', shieldZoneId: 7, timestamp: NOW }));
  while (!step.hasQueued) {
    const place = { key: step.wanted?.key ?? '', end: 'an end', hasReachedUntil: true, completeToMs: NOW, unreadable: 0 };
    const events = step.facts.cursor === null ? { ends: [], ingestedAtMs: [] } : { ends: [line.length], ingestedAtMs: [NOW] };
    step = await keeper.takePage({ ...place, bytes: new Uint8Array(line), ...events }, NOW);
  }
  const waiting = await keeper.waiting('mail', { limit: 10, except: [] });
  const { name = '', version = '' } = waiting?.messages[0]?.rule ?? {};
  expect([(await keeper.ruleOf(name, version))?.name, await keeper.ruleOf(name, 'another')]).toEqual([name, undefined]);
  const settled = { kind: 'refused', atMs: NOW, answer: 'no such channel' } as const;
  await keeper.settle('mail', { name, version }, waiting?.lastSeq ?? 0, settled);
  expect(await keeper.waiting('mail', { limit: 10, except: [] })).toBeNull();
  expect((await keeper.overview({ limit: 10 })).deliveries.map(({ outcome }) => outcome)).toEqual([settled]);
});
