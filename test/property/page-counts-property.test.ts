import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GROUP_DIMENSIONS, type GroupDimension } from '../../query/event-fields.ts';
import { type LineSearch, parseSearchLine } from '../../query/search-line.ts';
import { askedClause, completedLine, typedWord, valueCompletions } from '../../web/search/completion.ts';
import { bothSearches, filterChange, withClause } from '../../web/state/conditions.ts';
import { DEFAULT_STATE, type ExplorerState, type Zones } from '../../web/state/explorer-state.ts';
import { questionOf } from '../../web/state/question.ts';
import { storeRuns } from '../fixtures/test-store.ts';
import type { OracleExploreRequest, OracleExploreResponse } from '../oracle/explore-oracle.ts';
import type { OracleEvent } from '../oracle/raw-event.ts';
import { assertAsyncProperty, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import type { RunningApp } from '../src/running-app.ts';
import { ZONES } from './arbitrary-event.ts';
import { arbitraryMatch } from './arbitrary-request.ts';
import { explore } from './explore-reader.ts';
import { ExploredProgram, eventsOfZones } from './explored-program.ts';
import { NOW_MS } from './filled-store.ts';

const EVENTS = 240;
const MINUTES = 4_320;
const NAME = 'counts of the page';

/** What a person has chosen, over odd values: zones, conditions, the colours of the chart, and a part that is compared. */
function states(events: readonly OracleEvent[]): fc.Arbitrary<ExplorerState> {
  const to = NOW_MS;
  const time = fc.integer({ min: 1, max: MINUTES - 1 }).map((minutes) => ({ kind: 'time', from: to - minutes * 60_000, to }) as const);
  return fc
    .record({
      zones: fc.oneof(
        fc.constant<Zones>('all'),
        fc.constantFrom(...ZONES).map((zone): Zones => [zone]),
      ),
      match: arbitraryMatch(events),
      by: fc.constantFrom<GroupDimension>(...GROUP_DIMENSIONS),
      comparison: fc.oneof(fc.constant(null), time),
    })
    .map(({ zones, match: { query, filters, exclude }, by, comparison }) => ({
      ...DEFAULT_STATE,
      zones,
      range: { kind: 'last', minutes: MINUTES },
      search: { query: query ?? '', filters: filters ?? [], exclude: exclude ?? [] } as LineSearch,
      by,
      comparison,
    }));
}

/** All that the page asks for in a state. */
async function shownIn(app: RunningApp, state: ExplorerState): Promise<OracleExploreResponse> {
  const { body, lateBody } = questionOf(state, NOW_MS);
  const [first, late] = await Promise.all(
    [body, lateBody].map((asked) => explore(app, state.zones, asked as unknown as OracleExploreRequest)),
  );
  if (first === undefined || late === undefined) throw new Error('nothing was answered');
  return { ...first, facets: [...(first.facets ?? []), ...(late.facets ?? [])] };
}

/** A count that stands on the page beside a value. */
interface ShownCount {
  readonly field: GroupDimension;
  readonly value: string;
  readonly count: number;
}

function countsIn({ by, comparison }: ExplorerState, { facets, histogram }: OracleExploreResponse): readonly ShownCount[] {
  const ofFields = (facets ?? []).flatMap(({ field, values }) =>
    values.map(({ value, count, selected }) => ({
      field: field as GroupDimension,
      value,
      // What is different shows how many events of the part have it.
      count: comparison === null ? count : (selected ?? 0),
    })),
  );
  const ofColors = (histogram?.series ?? []).map(({ value, total }) => ({ field: by as GroupDimension, value: value ?? '', count: total }));
  // What is (none) is a filter for missing values alone, while counts have the empty ones, too.
  return [...ofFields, ...(comparison === null ? ofColors : [])].filter(({ value }) => value !== '');
}

async function expectSameAfterClick(app: RunningApp, state: ExplorerState, shown: ShownCount): Promise<void> {
  const change = filterChange(state, 'filters', shown.field, shown.value);
  if (change === null) throw new Error(`no click filters by ${shown.field}`);
  const { body } = questionOf({ ...state, ...change }, NOW_MS);
  const asked = { ...body, pageSize: 0, facets: undefined } as unknown as OracleExploreRequest;
  const { total, selectedTotal } = await explore(app, change.zones ?? state.zones, asked);
  const found = state.comparison === null ? total : (selectedTotal ?? 0);
  // A filter for an address finds each of its spellings.
  if (shown.field === 'ip') expect(found, JSON.stringify(shown)).toBeGreaterThanOrEqual(shown.count);
  else expect(found, JSON.stringify(shown)).toBe(shown.count);
}

/** The values that the search line offers behind a field, and what they find when they are taken. */
async function expectSameAfterCompletion(app: RunningApp, state: ExplorerState, field: string): Promise<void> {
  const line = `${field}:`;
  const word = typedWord(line, line.length);
  const clause = word === null ? null : askedClause(word);
  if (word === null || clause === null) throw new Error(`nothing is asked for behind ${line}`);
  const window = { from: NOW_MS - MINUTES * 60_000, to: NOW_MS };
  const ask = (search: LineSearch, more: object): Promise<OracleExploreResponse> =>
    explore(app, state.zones, { ...window, ...search, pageSize: 0, ...more } as unknown as OracleExploreRequest);
  const { facets } = await ask(withClause(state.search, 'filters', clause), { facets: [{ field, limit: 8, order: 'count' }] });
  for (const { text, count } of valueCompletions(word, facets?.[0] as never)) {
    const search = parseSearchLine(completedLine(line, word, line.length, text).line);
    if ('fault' in search) throw new Error(`${text}: ${search.fault}`);
    const { total } = await ask(bothSearches(state.search, search), {});
    if (field === 'ip') expect(total, text).toBeGreaterThanOrEqual(count ?? 0);
    else expect(total, text).toBe(count);
  }
}

test.each(dataSets(NAME, propertyRuns(1)))(
  'every count on the page is the total after its click, but for (none), spellings of addresses, and groups, over the events of seed $seed',
  async (data) => {
    const raw = eventsOfZones(data.seed, EVENTS);
    await ExploredProgram.with(raw, {}, async (program) => {
      await program.append(raw.length);
      const drawn = fc.record({
        state: states(program.eventsAfter()),
        typed: fc.constantFrom(...GROUP_DIMENSIONS.filter((field) => field !== 'shieldZoneId')),
      });
      let counts = 0;
      const property = fc.asyncProperty(drawn, async ({ state, typed }) => {
        const shown = countsIn(state, await shownIn(program.app, state));
        counts += shown.length;
        for (const one of shown) await expectSameAfterClick(program.app, state, one);
        await expectSameAfterCompletion(program.app, state, typed);
      });
      await assertAsyncProperty(property, { data, numRuns: storeRuns(12) });
      if (!data.isKept) expect(counts).toBeGreaterThan(20);
    });
  },
);
