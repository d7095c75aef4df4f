import { type GeneratorOptions, generateEvents } from './event-generator.ts';

/** Attacks among other events. Each is of one address and one rule of its own, and its events come in a row. */
export interface Attacks {
  /** They are spread evenly over the events. */
  readonly count: number;
  /** The events of each. */
  readonly events: number;
}

export interface PacedOptions extends Pick<GeneratorOptions, 'seed' | 'zones'> {
  /** How many there are beside those of attacks. */
  readonly events: number;
  readonly perSecond: number;
  /** The time of the first event, Unix ms UTC. */
  readonly beganMs: number;
  readonly attacks: Attacks;
}

/** What the `logId` of every event of an attack begins with. */
export const ATTACK_ID = 'attack-';

/** The events of a second are at most so much older than its begin. */
const OLDEST_MS = 2_000;

/** The rule of the WAF that an attack, from 0, meets. No other event has it. */
export function attackRuleId(nth: number): string {
  return `attack-${nth}`;
}

/** The number of the attack that an event belongs to, by its `logId`. */
export function attackOf(logId: string): number {
  return Number(logId.split('-')[2]);
}

/** The events of senders that gather them for up to two seconds, second by second. */
export function* pacedEvents({ seed, zones, events, perSecond, beganMs, attacks }: PacedOptions): Generator<Buffer, void> {
  const timeOf = (nth: number): number => beganMs + Math.floor((nth * 1_000) / perSecond);
  const seconds = function* (): Generator<Buffer, void> {
    for (let second = 0; second * perSecond < events; second += 1) {
      const count = Math.min(perSecond, events - second * perSecond);
      yield* generateEvents({ seed: seed * 10_000 + second, count, zones, nowMs: beganMs + second * 1_000, spanMs: OLDEST_MS });
    }
  };
  yield* withAttacks(seconds(), { attacks, events, seed, timeOf });
}

interface AttackOptions extends Pick<PacedOptions, 'attacks' | 'events' | 'seed'> {
  /** The time at which an event, from 0, comes, Unix ms UTC. */
  readonly timeOf: (nth: number) => number;
}

/** Puts attacks among as many events as `events` says. */
export function* withAttacks(lines: Iterable<Buffer>, { attacks, events, seed, timeOf }: AttackOptions): Generator<Buffer, void> {
  const every = Math.floor(events / (attacks.count + 1));
  let [nth, attack] = [0, 0];
  for (const line of lines) {
    yield line;
    nth += 1;
    if (attack === attacks.count || nth !== (attack + 1) * every) continue;
    for (let event = 0; event < attacks.events; event += 1) yield attackLine(attack, `${ATTACK_ID}${seed}-${attack}-${event}`, timeOf(nth));
    attack += 1;
  }
}

function attackLine(attack: number, logId: string, timestamp: number): Buffer {
  const shieldZoneId = 1 + (attack % 10);
  const client = { ip: `203.0.113.${attack % 256}`, ua: 'attacker', url: 'https://attacked.example/?q=1', action: 'blocked' };
  const rule = { feature: 'waf', ruleId: attackRuleId(attack), ruleName: 'Attack' };
  return Buffer.from(`${JSON.stringify({ logId, shieldZoneId, timestamp, ...rule, ...client, log: {} })}\n`);
}
