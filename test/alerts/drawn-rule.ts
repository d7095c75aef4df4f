import type { CountedEvent } from '../../alerts/alert-group.ts';
import type { AlertRule, RuleKind } from '../../alerts/rule.ts';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../query/durations.ts';
import { BEGIN, RETENTION_MS, ruleWith } from './made-rules.ts';

export interface Drawn {
  readonly rule: AlertRule;
  readonly events: readonly CountedEvent[];
  /** The most alerts that the rule keeps; absent: more than there are. */
  readonly maxAlerts?: number;
}

type Pick = <T>(...all: readonly T[]) => T;

export const KINDS = ['count', 'distinct', 'ratio', 'more_than_before', 'new_value'] as const;

function drawnKind(name: RuleKind['kind'], random: SeededRandom, pick: Pick): RuleKind {
  const atLeast = 1 + random.below(4);
  switch (name) {
    case 'count':
      return { kind: name, atLeast };
    case 'distinct':
      return { kind: name, field: 'ip', atLeast };
    case 'ratio': {
      const part = { kind: 'equals', column: 'action', values: ['blocked'], folded: true } as const;
      return { kind: name, part, share: pick(1, 2_500, 5_000, 3_334, 10_000), atLeast };
    }
    case 'more_than_before':
      return { kind: name, atLeast, times: pick(100, 150, 300), before: pick(1, 2, 12) };
    case 'new_value':
      return { kind: name, field: 'ip', forMs: pick(HOUR_MS, 12 * HOUR_MS, 3 * DAY_MS) };
    default:
      throw new Error(`${name} is not drawn`);
  }
}

/** A rule and events of a seed: late up to the retention, out of order, the same again and again, with stops of hours between them. */
export function drawnFrom(seed: number, kinds: readonly RuleKind['kind'][], more: Partial<AlertRule> = {}): Drawn {
  const random = new SeededRandom(seed);
  const pick: Pick = (...all) => all[random.below(all.length)] as (typeof all)[number];
  const kind = drawnKind(pick(...kinds), random, pick);
  const isOfMinutes = kind.kind === 'new_value';
  const rule = ruleWith({
    kind,
    by: isOfMinutes ? ['shieldZoneId', 'ip'] : ['country'],
    windowMs: isOfMinutes ? MINUTE_MS : pick(MINUTE_MS, 7 * SECOND_MS * 10, 10 * MINUTE_MS, 6 * HOUR_MS),
    quietMs: pick(MINUTE_MS, 30 * MINUTE_MS, DAY_MS),
    hold: isOfMinutes ? 1 : 1 + random.below(3),
    lateMs: pick(0, HOUR_MS, DAY_MS),
    ...more,
  });
  let nowMs = BEGIN;
  const events = Array.from({ length: 20 + random.below(60) }, (): CountedEvent => {
    nowMs += pick(0, 0, random.below(5 * SECOND_MS), random.below(5 * SECOND_MS), random.below(20 * MINUTE_MS), random.below(9 * HOUR_MS));
    const delayMs = pick(
      0,
      random.below(3 * SECOND_MS),
      random.below(3 * SECOND_MS),
      random.below(2 * HOUR_MS),
      random.below(RETENTION_MS),
    );
    const ip = pick({}, { ip: '' }, { ip: 'a' }, { ip: 'b' }, { ip: 'c' }, { ip: 'd' });
    return {
      zoneId: 7,
      timestamp: nowMs - delayMs,
      ingestedAtMs: nowMs,
      fields: { ...ip, ...pick({}, { country: 'DE' }, { country: 'NL' }), ...pick({ action: 'blocked' }, { action: 'logged' }) },
    };
  });
  return { rule, events };
}

/** The same events in another order, in which they come in at the same times. */
export function shuffled({ rule, events }: Drawn, seed: number): Drawn {
  const random = new SeededRandom(seed + 2_000_000);
  const others = events.map((event) => ({ event, at: random.below(2 ** 30) })).sort((one, other) => one.at - other.at);
  return { rule, events: events.map(({ ingestedAtMs }, index) => ({ ...(others[index] as { event: CountedEvent }).event, ingestedAtMs })) };
}
