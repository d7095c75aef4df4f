/** What one run of bench/clickhouse-store-speed.ts measured of a store. */
export interface StoreMeasurement {
  readonly events: number;
  /** Events of the zone whose searches are measured. */
  readonly zoneEvents: number;
  /** Events a second. */
  readonly intakePerSecond: number;
  /** Microseconds of one core an event, also those below. */
  readonly intake: { readonly program: number; readonly server: number; readonly client: number };
  readonly feed: { readonly program: number; readonly server: number };
  /** Bytes of an event on disk. */
  readonly bytes: number;
  /** Milliseconds of the searches when everything is merged, by the number that the name of the workload begins with. */
  readonly searches: ReadonlyMap<string, number>;
}

/** The searches of docs/scale.md by their workloads. */
const SEARCHES = {
  'a page of rows': '01',
  'groups by action': '13',
  'groups by ip': '14',
  wildcard: '11',
  'free text': '08',
} as const;

/** A search of a zone that has few events. */
const SMALL_ZONE = '18';

/** ClickHouse reads fewer events than these with one core: its setting merge_tree_min_rows_for_concurrent_read. */
const SHARED_BY_CORES = 163_840;

/** The constants of docs/scale.md, from a run with a million events and one with several. */
export function scaleConstants(million: StoreMeasurement, several: StoreMeasurement, cores: number): ReadonlyMap<string, number> {
  const small = searchMs(several, SMALL_ZONE);
  /** Thousands of events of the zone that a core reads. */
  const ofCore = ({ zoneEvents }: StoreMeasurement) => zoneEvents / (zoneEvents < SHARED_BY_CORES ? 1 : cores) / 1000;
  /** Microseconds of one core an event of the zone, beside what the statements take. */
  const eventOf = (workload: string, statementsMs: number) => (searchMs(several, workload) - statementsMs) / ofCore(several);
  const byIp = SEARCHES['groups by ip'];
  // What many groups take grows with the events; what does not is that of the statements.
  const [few, many] = [searchMs(million, byIp), searchMs(several, byIp)];
  const ofManyGroups = few - ((many - few) * ofCore(million)) / (ofCore(several) - ofCore(million));
  const tenfolds = Math.log10(several.events / million.events);
  return new Map([
    ['program', several.intake.program],
    ['insert', million.intake.server],
    ['merge', (several.intake.server - million.intake.server) / tenfolds],
    ['client', million.intake.client],
    ['bytes', million.bytes],
    ['feedProgram', several.feed.program],
    ['feedServer', several.feed.server],
    ['oneStatement', small],
    ['threeStatements', ofManyGroups],
    ['page', eventOf(SEARCHES['a page of rows'], small)],
    ['fewGroups', eventOf(SEARCHES['groups by action'], small)],
    ['manyGroups', eventOf(byIp, ofManyGroups)],
    ['wildcard', eventOf(SEARCHES.wildcard, small)],
    ['freeText', eventOf(SEARCHES['free text'], small)],
  ]);
}

/** What docs/scale.md says was measured on the machine of its constants. */
export function measuredOnThisMachine(million: StoreMeasurement, several: StoreMeasurement): ReadonlyMap<string, number> {
  const [many, one] = [several, million].map(({ events }) => `${Math.round(events / 1_000_000)} million`);
  const searches = (of: StoreMeasurement, size = '') =>
    Object.entries(SEARCHES).map(([what, workload]) => [`${what}, ${size}, ms`, searchMs(of, workload)] as const);
  return new Map([
    [`intake of ${many} events, events/s`, several.intakePerSecond],
    [`bytes of an event, ${many}`, several.bytes],
    ...searches(several, many),
    ...searches(million, one),
  ]);
}

function searchMs({ searches }: StoreMeasurement, workload: string): number {
  const ms = searches.get(workload);
  if (ms === undefined) throw new Error(`the workload ${workload} was not measured, of which docs/scale.md has constants`);
  return ms;
}
