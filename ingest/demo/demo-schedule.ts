/** What goes on beside the everyday traffic, each for some minutes of the same hours every day. */
export type DemoCampaign = 'scan' | 'stuffing' | 'bot net';

const DAY_SECONDS = 86_400;
const CAMPAIGN_WEIGHT = 24;

/** How busy each hour of the day (UTC) is. */
const EVERYDAY_WEIGHT = [4, 3, 3, 2, 2, 3, 4, 5, 7, 8, 9, 9, 8, 9, 10, 10, 9, 9, 10, 11, 10, 8, 6, 5];

/** By hour of the day modulo 8: what runs in it and in which minutes. */
const CAMPAIGNS: ReadonlyMap<number, { readonly kind: DemoCampaign; readonly fromMinute: number; readonly toMinute: number }> = new Map([
  [1, { kind: 'scan', fromMinute: 12, toMinute: 32 }],
  [4, { kind: 'stuffing', fromMinute: 20, toMinute: 50 }],
  [6, { kind: 'bot net', fromMinute: 5, toMinute: 40 }],
]);

/** The campaign of a second since 1970, if one runs. */
export function campaignAt(second: number): DemoCampaign | null {
  const minute = Math.floor(second / 60);
  const campaign = CAMPAIGNS.get(Math.floor(minute / 60) % 8);
  const running = campaign !== undefined && minute % 60 >= campaign.fromMinute && minute % 60 < campaign.toMinute;
  return running ? campaign.kind : null;
}

/** Of 100 events while a campaign runs, so many are its own. */
export function campaignPercent(second: number): number {
  return (100 * CAMPAIGN_WEIGHT) / (CAMPAIGN_WEIGHT + everydayWeight(second));
}

/** How many events each second has, past or to come. It is the same for a second whenever the demonstration was started. */
export class DemoDensity {
  readonly #eventsPerDay: number;
  /** The weight of all seconds of a day before each. */
  readonly #before: Float64Array;

  constructor(eventsPerDay: number) {
    this.#eventsPerDay = eventsPerDay;
    this.#before = new Float64Array(DAY_SECONDS + 1);
    for (let second = 0; second < DAY_SECONDS; second++) {
      const weight = everydayWeight(second) + (campaignAt(second) === null ? 0 : CAMPAIGN_WEIGHT);
      this.#before[second + 1] = (this.#before[second] ?? 0) + weight;
    }
  }

  /** How many events a second since 1970 has. */
  eventsAt(second: number): number {
    return this.#eventsBefore(second + 1) - this.#eventsBefore(second);
  }

  /** How many there are from 1970 up to the second. Each whole day has `eventsPerDay`. */
  #eventsBefore(second: number): number {
    const partOfDay = (this.#before[second % DAY_SECONDS] ?? 0) / (this.#before[DAY_SECONDS] ?? 1);
    return Math.floor(this.#eventsPerDay * (Math.floor(second / DAY_SECONDS) + partOfDay));
  }
}

function everydayWeight(second: number): number {
  return EVERYDAY_WEIGHT[Math.floor(second / 3600) % 24] ?? 1;
}
