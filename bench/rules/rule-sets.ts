import { MINUTE_MS } from '../../query/durations.ts';
import { type Attacks, attackRuleId } from '../events/paced-events.ts';
import { PATHS, RULES } from '../events/traffic-pools.ts';

/** What rules look at in a generated event. */
export interface GeneratedEvent {
  readonly shieldZoneId: number;
  readonly feature: string;
  readonly ruleId: string;
  readonly url: string;
  readonly country?: string;
  readonly action: string;
}

/** A file of a rule, as YAML has it. JSON is YAML. */
export interface RuleDocument {
  readonly name: string;
  readonly [member: string]: unknown;
}

/** Rules, and which of them an event is for: by plain comparisons, which share nothing with the program. */
export interface MeasuredRules {
  readonly name: string;
  readonly documents: readonly RuleDocument[];
  /** The names of the rules that are about an event. */
  readonly namesFor: (event: GeneratedEvent) => readonly string[];
}

/** The rules of the measurement are for events that are kept so long. */
export const RETENTION_MS = 72 * 60 * MINUTE_MS;

/** The least events of an attack that its rule tells. */
export const ATTACK_EVENTS = 100;

/** What rules group by, in turn: half of those of usual examples group by the zone. */
const GROUPS = ['shieldZoneId', 'ip', 'shieldZoneId', 'ja4'] as const;

/** No window has so many events. */
const NEVER = 1_000_000;

const counting = { zones: 'all', kind: 'count', at_least: NEVER, window: '5m', late: '15m' } as const;

const usual = (name: string, search: string, nth: number): RuleDocument => ({ ...counting, name, search, by: GROUPS[nth % GROUPS.length] });

const idOf = (nth: number): string => RULES[nth]?.id ?? '';
const nthOf: ReadonlyMap<string, number> = new Map(RULES.map(({ id }, nth) => [id, nth]));
const pathOf = (nth: number): string => PATHS[nth] ?? '';

/** Each of the first rules of the WAF, which have most events. */
const ofRuleIds = (prefix: string, count: number) => ({
  documents: Array.from({ length: count }, (_, nth) => usual(`${prefix}-${nth}`, `ruleId:${idOf(nth)}`, nth)),
  namesFor: ({ ruleId }: GeneratedEvent): string[] => {
    const nth = nthOf.get(ruleId);
    return nth !== undefined && nth < count ? [`${prefix}-${nth}`] : [];
  },
});

const PATH_RULES = 20;
const FEATURE_RULES = 20;

/** Texts, which the feed is not read for, beside a whole value. */
const ofPaths = {
  documents: Array.from({ length: PATH_RULES }, (_, nth) => usual(`path-${nth}`, `action:blocked url:~${pathOf(nth)}`, nth)),
  namesFor: ({ action, url }: GeneratedEvent): string[] =>
    action === 'blocked' ? PATHS.slice(0, PATH_RULES).flatMap((path, nth) => (url.includes(path) ? [`path-${nth}`] : [])) : [],
};

/** Three fields, one of them not of a value. */
const ofFeatures = {
  documents: Array.from({ length: FEATURE_RULES }, (_, nth) => {
    return usual(`feature-${nth}`, `feature:waf ruleId:${idOf(60 + nth)},${idOf(90 + nth)} -country:DE`, nth);
  }),
  namesFor: ({ feature, ruleId, country }: GeneratedEvent): string[] => {
    const nth = nthOf.get(ruleId) ?? 0;
    const names = [nth - 60, nth - 90].filter((rule) => rule >= 0 && rule < FEATURE_RULES).map((rule) => `feature-${rule}`);
    return feature === 'waf' && country !== 'DE' ? names : [];
  },
};

const ofFirstIds = ofRuleIds('rule', 60);
const ZONE_RULES = 1_000;

/** The rules beside the rare one, with what they may cost in microseconds of CPU a stored event; null: no bound. */
const USUAL_SETS: readonly (MeasuredRules & { readonly goalMicros: number | null })[] = [
  { name: 'a rare rule', goalMicros: 2, documents: [], namesFor: () => [] },
  { name: 'eight usual rules', goalMicros: null, ...ofRuleIds('usual', 8) },
  {
    name: 'a hundred usual rules of all zones',
    goalMicros: 12,
    documents: [...ofFirstIds.documents, ...ofPaths.documents, ...ofFeatures.documents],
    namesFor: (event) => [...ofFirstIds.namesFor(event), ...ofPaths.namesFor(event), ...ofFeatures.namesFor(event)],
  },
  {
    name: 'a thousand rules of a zone each',
    goalMicros: 15,
    documents: Array.from({ length: ZONE_RULES }, (_, nth) => {
      return { ...counting, name: `zone-${nth + 1}`, search: 'action:blocked', zones: nth + 1, by: 'ip' };
    }),
    namesFor: ({ shieldZoneId, action }) => (shieldZoneId <= ZONE_RULES && action === 'blocked' ? [`zone-${shieldZoneId}`] : []),
  },
];

/** The rule that tells an attack, whichever it is, by its address: rare, because all else that comes has none of its values. */
export function rareRule({ count }: Attacks): RuleDocument {
  const ids = Array.from({ length: count }, (_, nth) => attackRuleId(nth));
  return { ...counting, name: 'rare', search: `ruleId:${ids.join()}`, at_least: ATTACK_EVENTS, window: '1m', by: 'ip' };
}

/** Sets of rules, each with the rare one. */
export function measuredSets(attacks: Attacks): typeof USUAL_SETS {
  return USUAL_SETS.map((set) => ({
    ...set,
    documents: [rareRule(attacks), ...set.documents],
    namesFor: (event) => [...(event.ruleId.startsWith('attack-') ? ['rare'] : []), ...set.namesFor(event)],
  }));
}

/** The sets by their names. */
export function measuredSet(name: 'a rare rule' | 'eight usual rules', attacks: Attacks): MeasuredRules {
  return measuredSets(attacks).find((set) => set.name === name) as MeasuredRules;
}

/** How many events of a line each rule has to count, by its name. */
export class WantedCounts {
  readonly #counts = new Map<string, number>();

  /** Adds an event, a line of JSON whose last member is the log. */
  add(line: Buffer, sets: readonly Pick<MeasuredRules, 'namesFor'>[]): void {
    const text = line.toString('utf8');
    const event = JSON.parse(`${text.slice(0, text.indexOf(',"log":'))}}`) as GeneratedEvent;
    for (const name of new Set(sets.flatMap(({ namesFor }) => namesFor(event)))) this.#counts.set(name, this.of(name) + 1);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}
