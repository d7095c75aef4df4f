import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CountedEvent } from '../../alerts/alert-group.ts';
import type { Alert } from '../../alerts/fold-state.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { readRule } from '../../alerts/rule-file.ts';
import { RuleFold } from '../../alerts/rule-fold.ts';
import { RuleSet } from '../../alerts/rule-set.ts';
import { DEMO_EVENTS_PER_DAY, DEMO_SEED, eventsOfSecond } from '../../ingest/demo/demo-feed.ts';
import { attackAt, type DemoAttack, DemoDensity } from '../../ingest/demo/demo-schedule.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { matchSubject } from '../../query/match/match-event.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/alerts.md'), 'utf8');
const BLOCKS = [...DOCUMENT.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
// The other blocks are files of receivers.
const RULES = BLOCKS.filter((text) => text.startsWith('name: ')).map((text) => readRule(text));

const BEGIN = Date.UTC(2026, 4, 12, 12);
const RETENTION_MS = 3 * DAY_MS;

/** The attacks of the demo that a rule tells, and how long after the begin of one at the latest. */
const TOLD: Readonly<Record<string, readonly [attacks: readonly DemoAttack[], withinMs: number]>> = {
  'credential-stuffing': [['stuffing'], MINUTE_MS],
  'login-limit-struck': [['stuffing'], MINUTE_MS],
  scanner: [['scan'], MINUTE_MS],
  'probe-let-through': [['scan'], MINUTE_MS],
  'bot-net': [['stuffing', 'bot net'], MINUTE_MS],
  'address-over-many-zones': [[], 0],
  // A window and the two minutes after it.
  'rule-gone-wild': [['scan', 'stuffing', 'bot net'], 12 * MINUTE_MS],
  'blocked-share-up': [['scan'], 12 * MINUTE_MS],
  'country-never-seen': [[], 0],
  'zone-gone-silent': [[], 0],
};

const ruleNamed = (name: string) => RULES.find((rule) => rule.name === name) as AlertRule;

test('ten rules are in the document, and each is expected something of', () => {
  expect(RULES.map(({ name }) => name)).toEqual(Object.keys(TOLD));
});

function countedEvent(line: string, ingestedAtMs: number): CountedEvent {
  const { shieldZoneId, timestamp, log: _, logId: __, ...fields } = JSON.parse(line);
  return { zoneId: shieldZoneId, timestamp, ingestedAtMs, fields };
}

describe('on three days of the demo', () => {
  const told = new Map<string, Alert[]>(RULES.map(({ name }) => [name, []]));
  const bounded: string[] = [];
  /** Attacks by their begin. Those of the first half day are what rules that compare with before read back. */
  const attacks: { readonly kind: DemoAttack; readonly beginMs: number; endMs: number }[] = [];
  const begunAtMs = BEGIN + DAY_MS / 2;

  beforeAll(() => {
    const set = new RuleSet(RULES);
    const folds = RULES.map((rule) => new RuleFold(rule, { retentionMs: RETENTION_MS, begunAtMs }));
    const density = new DemoDensity(DEMO_EVENTS_PER_DAY);
    for (let ms = BEGIN; ms < BEGIN + RETENTION_MS; ms += 1_000) {
      const kind = attackAt(ms / 1_000);
      const last = attacks.at(-1);
      if (kind !== null && last?.endMs === ms && last.kind === kind) last.endMs = ms + 1_000;
      else if (kind !== null) attacks.push({ kind, beginMs: ms, endMs: ms + 1_000 });
      for (const line of eventsOfSecond(ms / 1_000, density, DEMO_SEED)) {
        const event = countedEvent(line, ms + 1_000);
        const subject = matchSubject(event.fields);
        for (const index of set.matching(event.zoneId, subject)) {
          const news = folds[index]?.count(event, subject) ?? [];
          const alerts = told.get(RULES[index]?.name ?? '');
          alerts?.push(...news.filter((one) => one.kind === 'told').map(({ alert }) => alert));
        }
      }
    }
    bounded.push(...RULES.filter((_rule, index) => (folds[index]?.facts.bounded ?? 0) > 0).map(({ name }) => name));
  });

  test.each(Object.entries(TOLD))('%s tells its attacks in time, and nothing else', (name, [kinds, withinMs]) => {
    const toldAt = (told.get(name) ?? []).map(({ toldAtMs }) => Number(toldAtMs));
    const ofRule = attacks.filter(({ kind, beginMs }) => kinds.includes(kind) && beginMs >= begunAtMs);
    const missed = ofRule.filter(({ beginMs }) => !toldAt.some((ms) => ms >= beginMs && ms <= beginMs + withinMs));
    const others = toldAt.filter((ms) => !attacks.some(({ kind, beginMs, endMs }) => kinds.includes(kind) && ms >= beginMs && ms <= endMs));
    expect([missed, others]).toEqual([[], []]);
    expect(ofRule.length > 0).toBe(kinds.length > 0);
  });

  test('no rule has more than it may', () => {
    expect(bounded).toEqual([]);
  });
});

describe('on made-up events', () => {
  const event = (ms: number, fields: CountedEvent['fields'], zoneId = 7): CountedEvent => {
    return { zoneId, timestamp: BEGIN + ms, ingestedAtMs: BEGIN + ms, fields: { action: 'blocked', ...fields } };
  };

  /** The groups of the alerts that a rule tells of events. */
  function toldOf(name: string, events: readonly CountedEvent[]): readonly (readonly string[])[] {
    const rule = ruleNamed(name);
    const [set, fold] = [new RuleSet([rule]), new RuleFold(rule, { retentionMs: RETENTION_MS, begunAtMs: BEGIN })];
    const matching = events.filter(({ zoneId, fields }) => set.matching(zoneId, matchSubject(fields)).length > 0);
    const news = [...matching.flatMap((one) => fold.count(one)), ...fold.completeTo(BEGIN + DAY_MS)];
    return news.filter(({ kind }) => kind === 'told').map(({ alert }) => alert.group.map(({ text }) => text));
  }

  test('an address is told that is blocked in four zones, and none that is in three', () => {
    const inZones = (ip: string, ...zones: readonly number[]) => zones.map((zone) => event(zone * 1_000, { ip }, zone));
    const events = [...inZones('192.0.2.1', 1, 2, 3), ...inZones('192.0.2.2', 1, 2, 3, 7)];
    expect(toldOf('address-over-many-zones', events)).toEqual([['192.0.2.2']]);
  });

  test('a country is told that a zone had not for three days', () => {
    const seen = event(-HOUR_MS, { country: 'DE' });
    const events = [seen, event(0, { country: 'DE' }), event(1, { country: 'KP' }), event(2, { country: 'DE' }, 8)];
    expect(toldOf('country-never-seen', events)).toEqual([
      ['7', 'KP'],
      ['8', 'DE'],
    ]);
  });

  test('a rule is told that strikes five times as often as before', () => {
    const minutes = Array.from({ length: 180 }, (_, minute) => minute);
    const usual = (ruleId: string, minute: number) => [event(minute * MINUTE_MS, { ruleId })];
    const wild = (minute: number) => Array.from({ length: 20 }, () => event(minute * MINUTE_MS, { ruleId: 'wild' }));
    const events = minutes.flatMap((minute) => [...usual('steady', minute), ...(minute < 150 ? usual('wild', minute) : wild(minute))]);
    expect(toldOf('rule-gone-wild', events)).toEqual([['7', 'wild']]);
  });

  test('a zone is told that had events and has none for a quarter of an hour', () => {
    const fold = new RuleFold(ruleNamed('zone-gone-silent'), { retentionMs: RETENTION_MS, begunAtMs: BEGIN });
    const lookAfter = (minutes: number) =>
      fold.lookAt([{ zoneId: 7, lastMs: BEGIN }], BEGIN + minutes * MINUTE_MS).filter(({ kind }) => kind === 'told').length;
    expect([15, 16].map(lookAfter)).toEqual([0, 1]);
  });
});
