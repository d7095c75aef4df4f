/**
 * The attacks beside the everyday traffic. Each runs for some minutes of the same hours every day. `demo-event.ts` makes their requests,
 * and `demo-feed.ts` has them sent.
 */
export const DEMO_ATTACKS = ['scan', 'stuffing', 'bot net'] as const;

export type DemoAttack = (typeof DEMO_ATTACKS)[number];

const DAY_SECONDS = 86_400;
const ATTACK_WEIGHT = 24;

/** The weight of everyday traffic in each hour of the day (UTC). */
const EVERYDAY_WEIGHT = [4, 3, 3, 2, 2, 3, 4, 5, 7, 8, 9, 9, 8, 9, 10, 10, 9, 9, 10, 11, 10, 8, 6, 5];

/** The attack of an hour and its minutes, by hour of the day modulo 8. */
const ATTACK_TIMES: ReadonlyMap<number, { readonly kind: DemoAttack; readonly fromMinute: number; readonly toMinute: number }> = new Map([
  [1, { kind: 'scan', fromMinute: 12, toMinute: 32 }],
  [4, { kind: 'stuffing', fromMinute: 20, toMinute: 50 }],
  [6, { kind: 'bot net', fromMinute: 5, toMinute: 40 }],
]);

/** The attack of a second since 1970, if one runs. */
export function attackAt(second: number): DemoAttack | null {
  const minute = Math.floor(second / 60);
  const attack = ATTACK_TIMES.get(Math.floor(minute / 60) % 8);
  const running = attack !== undefined && minute % 60 >= attack.fromMinute && minute % 60 < attack.toMinute;
  return running ? attack.kind : null;
}

/** The percentage of events that belong to the attack while one runs. */
export function attackPercent(second: number): number {
  return (100 * ATTACK_WEIGHT) / (ATTACK_WEIGHT + everydayWeight(second));
}

/** The number of events of each second, past or future. It does not depend on when the demo feed starts. */
export class DemoDensity {
  readonly #eventsPerDay: number;
  /** For each second of a day, the sum of the weights before it. */
  readonly #weightBefore: Float64Array;

  constructor(eventsPerDay: number) {
    this.#eventsPerDay = eventsPerDay;
    this.#weightBefore = new Float64Array(DAY_SECONDS + 1);
    for (let second = 0; second < DAY_SECONDS; second++) {
      const weight = everydayWeight(second) + (attackAt(second) === null ? 0 : ATTACK_WEIGHT);
      this.#weightBefore[second + 1] = (this.#weightBefore[second] ?? 0) + weight;
    }
  }

  /** The number of events in a second since 1970. */
  eventsAt(second: number): number {
    return this.#eventsBefore(second + 1) - this.#eventsBefore(second);
  }

  /** The number of events from 1970 up to the second. Each whole day has `eventsPerDay`. */
  #eventsBefore(second: number): number {
    const partOfDay = (this.#weightBefore[second % DAY_SECONDS] ?? 0) / (this.#weightBefore[DAY_SECONDS] ?? 1);
    return Math.floor(this.#eventsPerDay * (Math.floor(second / DAY_SECONDS) + partOfDay));
  }
}

function everydayWeight(second: number): number {
  return EVERYDAY_WEIGHT[Math.floor(second / 3600) % 24] ?? 1;
}
