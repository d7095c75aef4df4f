import { expect, test } from 'vitest';
import type { FoldNews } from '../../alerts/alert-book.ts';
import type { CountedEvent } from '../../alerts/alert-group.ts';
import { groupKey } from '../../alerts/alert-group.ts';
import { EntryBudget } from '../../alerts/entry-budget.ts';
import { RuleFold, type RuleFoldOptions } from '../../alerts/rule-fold.ts';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { DAY_MS, HOUR_MS } from '../../query/durations.ts';
import { type Drawn, drawnFrom, KINDS, shuffled } from './drawn-rule.ts';
import { FoldModel } from './fold-model.ts';
import { KeptFold, type KeptState, stateOf } from './kept-fold.ts';
import { BEGIN, RETENTION_MS } from './made-rules.ts';

const SEEDS = 2_000;
const END = BEGIN + 60 * DAY_MS;
/** Rules begin when some events have been read back. */
const BEGUN = BEGIN + HOUR_MS;

function shown(news: readonly FoldNews[]): string[] {
  return news.map((one) => {
    const { id, group, hits, toldAtMs, resolvedAtMs } = one.alert;
    if (one.kind === 'hit') return `hit ${one.windowMs} ${groupKey(group)} of ${id}`;
    return one.kind === 'told' ? `told ${id} at ${toldAtMs}` : `resolved ${id} at ${resolvedAtMs} after ${hits}`;
  });
}

const foldOf = ({ rule, maxAlerts = 1_000 }: Drawn, more: Partial<RuleFoldOptions> = {}) =>
  new RuleFold(rule, { retentionMs: RETENTION_MS, begunAtMs: BEGUN, maxAlerts, ...more });

interface Folded {
  readonly news: readonly FoldNews[];
  readonly state: KeptState;
}

/** All events as one page. */
function foldedAtOnce(drawn: Drawn): Folded {
  const fold = foldOf(drawn);
  const news = [...drawn.events.flatMap((event) => fold.count(event)), ...fold.completeTo(END)];
  return { news, state: stateOf(fold) };
}

/** A fold whose changes are written, and which goes on from these alone after a stop. */
class StoppedFold {
  readonly #drawn: Drawn;
  readonly #events: ReadonlySet<CountedEvent>;
  readonly #kept = new KeptFold();
  #fold: RuleFold;

  constructor(drawn: Drawn, budget: EntryBudget) {
    this.#drawn = drawn;
    this.#events = new Set(drawn.events);
    this.#fold = foldOf(drawn, { budget });
  }

  /** Counts an event that is one of its own. */
  count(event: CountedEvent): readonly FoldNews[] {
    return this.#events.has(event) ? this.#fold.count(event) : [];
  }

  completeTo(timeMs: number): readonly FoldNews[] {
    return this.#fold.completeTo(timeMs);
  }

  write({ isWhole = false } = {}): void {
    this.#kept.write(this.#fold.takeChanges({ isWhole }));
  }

  stop(budget: EntryBudget): void {
    const { state } = this.#kept;
    const { timeMs } = this.#fold.facts;
    this.#fold = foldOf(this.#drawn, { budget, ...(state && { state, alerts: state.alerts }) });
    this.#fold.completeTo(timeMs);
  }

  get state(): KeptState {
    this.write();
    const { state } = this.#kept;
    if (state === undefined) throw new Error('nothing was written');
    return { ...state, facts: this.#fold.facts };
  }
}

/** The events in pages that are cut anywhere, behind each of which the folds may be stopped. The first has all, others some of them. */
function foldedInPages(all: readonly Drawn[], seed: number, newBudget: () => EntryBudget): readonly Folded[] {
  const random = new SeededRandom(seed + 1_000_000);
  const budget = newBudget();
  const folds = all.map((drawn) => ({ fold: new StoppedFold(drawn, budget), news: [] as FoldNews[] }));
  const completeTo = (timeMs: number) => {
    for (const { fold, news } of folds) news.push(...fold.completeTo(timeMs));
  };
  const events = all[0]?.events ?? [];
  for (const [index, event] of events.entries()) {
    for (const { fold, news } of folds) news.push(...fold.count(event));
    const nextMs = events[index + 1]?.ingestedAtMs ?? END;
    if (random.below(3) === 0) completeTo(event.ingestedAtMs + random.below(nextMs - event.ingestedAtMs + 1));
    if (random.below(3) === 0) for (const { fold } of folds) fold.write({ isWhole: random.below(4) === 0 });
    if (random.below(4) === 0) {
      // What others of the budget had a fold work off is told by its next call.
      completeTo(event.ingestedAtMs);
      for (const { fold } of folds) fold.write();
      const anew = newBudget();
      for (const { fold } of folds) fold.stop(anew);
    }
  }
  completeTo(END);
  return folds.map(({ fold, news }) => ({ news, state: fold.state }));
}

function foldedAlone(drawn: Drawn, seed: number): Folded {
  return foldedInPages([drawn], seed, () => new EntryBudget())[0] as Folded;
}

function modelOf({ rule, events }: Drawn): FoldModel {
  const model = new FoldModel(rule, { begun: BEGUN, retention: RETENTION_MS });
  for (const event of events) model.count(event);
  model.advance(END);
  return model;
}

const hitsOf = (news: readonly FoldNews[]): readonly string[] =>
  news.flatMap((one) => (one.kind === 'hit' ? [`${one.windowMs} ${groupKey(one.alert.group)}`] : [])).toSorted();

const hitsOfModel = ({ news }: FoldModel): ReadonlySet<string> =>
  new Set(news.filter((one) => one.startsWith('hit ')).map((one) => one.slice('hit '.length, one.lastIndexOf(' of '))));

/** The windows and groups of all events that meet the condition of the rule, as one GROUP BY has them. */
function groupedHits({ rule: { windowMs, kind }, events }: Drawn): readonly string[] {
  const stepMs = windowMs / 2;
  const groups = Map.groupBy(
    events.flatMap((event) => {
      const last = Math.floor(event.timestamp / stepMs) * stepMs;
      return [last - stepMs, last].map((window) => ({ event, key: `${window} ${groupKey([{ text: event.fields.country ?? '' }])}` }));
    }),
    ({ key }) => key,
  );
  const ipsOf = (all: readonly { readonly event: CountedEvent }[]) => new Set(all.flatMap(({ event }) => event.fields.ip ?? []));
  const isHit = (all: readonly { readonly event: CountedEvent }[]) =>
    'atLeast' in kind && (kind.kind === 'count' ? all.length : ipsOf(all).size) >= kind.atLeast;
  return [...groups]
    .filter(([, all]) => isHit(all))
    .map(([key]) => key)
    .toSorted();
}

test(`of ${SEEDS} sequences the same comes out as of the plain model, in whatever pages and with whatever stops they are read`, () => {
  const withHits = new Map<string, number>();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const drawn = drawnFrom(seed, KINDS);
    const model = modelOf(drawn);
    const folded = foldedAtOnce(drawn);
    expect(shown(folded.news), `seed ${seed}`).toEqual(model.news);
    expect(folded.state.facts, `seed ${seed}`).toMatchObject({ tooLate: model.tooLate, bounded: 0 });
    const inPages = foldedAlone(drawn, seed);
    expect(inPages.news, `seed ${seed}`).toEqual(folded.news);
    expect(inPages.state, `seed ${seed}`).toEqual(folded.state);
    const { kind } = drawn.rule.kind;
    if (model.news.length > 0) withHits.set(kind, (withHits.get(kind) ?? 0) + 1);
  }
  expect(KINDS.filter((kind) => (withHits.get(kind) ?? 0) < SEEDS / 25)).toEqual([]);
});

test(`where nothing was too late, the hits of count and distinct in ${SEEDS} sequences are those of one GROUP BY, in any order`, () => {
  let [inTime, inOtherOrder] = [0, 0];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const drawn = drawnFrom(seed, ['count', 'distinct']);
    const folded = foldedAtOnce(drawn);
    if (folded.state.facts.tooLate > 0) continue;
    inTime += 1;
    expect(hitsOf(folded.news), `seed ${seed}`).toEqual(groupedHits(drawn));
    const other = shuffled(drawn, seed);
    // Of what is past the retention no event comes in.
    const isKept = other.events.every(({ timestamp, ingestedAtMs }) => ingestedAtMs - timestamp < RETENTION_MS);
    const { news, state } = foldedAtOnce(other);
    if (!isKept || state.facts.tooLate > 0) continue;
    inOtherOrder += 1;
    expect(hitsOf(news), `seed ${seed}`).toEqual(hitsOf(folded.news));
  }
  expect([inTime > SEEDS / 20, inOtherOrder > SEEDS / 50]).toEqual([true, true]);
});

test(`where a rule has more groups and alerts than it may, ${SEEDS} sequences give no hit that is not one, in whatever pages`, () => {
  let bounded = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const drawn = { ...drawnFrom(seed, KINDS, { maxGroups: 2 + (seed % 5) }), maxAlerts: 1 + (seed % 4) };
    const folded = foldedAtOnce(drawn);
    const inPages = foldedAlone(drawn, seed);
    expect(inPages.news, `seed ${seed}`).toEqual(folded.news);
    expect(inPages.state, `seed ${seed}`).toEqual(folded.state);
    const truly = hitsOfModel(modelOf(drawn));
    expect(
      hitsOf(folded.news).filter((hit) => !truly.has(hit)),
      `seed ${seed}`,
    ).toEqual([]);
    bounded += folded.state.facts.bounded > 0 ? 1 : 0;
  }
  expect(bounded).toBeGreaterThan(SEEDS / 2);
});

test('where all rules together have more than they may, no hit of any is false, in whatever pages they are read', () => {
  let bounded = 0;
  for (let seed = 1; seed <= SEEDS / 4; seed += 1) {
    const one = drawnFrom(seed, KINDS);
    const other = drawnFrom(seed + SEEDS, KINDS, { name: 'b-rule' });
    const all = [one, { rule: other.rule, events: one.events.filter((_event, nth) => nth % 3 > 0) }];
    const newBudget = () => new EntryBudget(seed % 2 === 0 ? { entries: 4 + (seed % 7) } : { bytes: 4_000 + 600 * (seed % 9) });
    const folded = foldedInPages(all, seed, newBudget);
    expect(foldedInPages(all, seed + SEEDS, newBudget), `seed ${seed}`).toEqual(folded);
    for (const [nth, drawn] of all.entries()) {
      const truly = hitsOfModel(modelOf(drawn));
      const { news = [], state } = folded[nth] ?? {};
      expect(
        hitsOf(news).filter((hit) => !truly.has(hit)),
        `seed ${seed}`,
      ).toEqual([]);
      bounded += (state?.facts.bounded ?? 0) > 0 ? 1 : 0;
    }
  }
  expect(bounded).toBeGreaterThan(SEEDS / 8);
});
