import { processorMs } from '../compare/processor-time.ts';
import { inEmptyDataDir } from '../events/event-file.ts';
import { ATTACK_ID, pacedEvents } from '../events/paced-events.ts';
import { count, percentile } from '../report/figures.ts';
import type { EventSenderReport } from '../subjects/event-sender-subject.ts';
import { forkSubject } from '../subjects/fork-subject.ts';
import { ATTACK_EVENTS, type MeasuredRules, measuredSets, WantedCounts } from './rule-sets.ts';
import { RuledProgram } from './ruled-program.ts';

export interface CostOptions {
  /** Stored events of each run, beside those before, which warm it up. */
  readonly events: number;
  /** Events a second. */
  readonly rate: number;
  readonly batch: number;
  readonly turns: number;
  readonly memoryLimitMb: number;
  /** Is told what is under way. */
  readonly tell: (what: string) => void;
}

const ZONES = 1_700;
const WARM_UP_EVENTS = 100_000;
const ATTACKS = { count: 10, events: ATTACK_EVENTS };
const NO_ATTACKS = { count: 0, events: 0 };
const [WARM_UP_SEED, SEED] = [1, 2];

const NO_RULES: MeasuredRules = { name: 'no rules', documents: [], namesFor: () => [] };
const SETS = measuredSets(ATTACKS);

interface Run {
  /** Microseconds of CPU of the whole process for each stored event. */
  readonly micros: number;
  /** How many came in a second. */
  readonly eventsPerSecond: number;
  /** The share of a core that the program and the sender took while events came in. */
  readonly shares: { readonly program: number; readonly sender: number };
  /** The share of all events that were read for rules, 0 to 1. */
  readonly readShare: number;
  /** Whether something was given up because there were too many groups. */
  readonly isBounded: boolean;
}

/**
 * What rules cost, in turns: every second turn goes through the sets from the last to the first. Each run has a program and a folder of its
 * own. Throws where a rule has not counted the events that the generator made for it, or an attack was not told.
 */
export async function ruleCost(options: CostOptions): Promise<{ readonly header: readonly string[]; readonly rows: readonly string[][] }> {
  const wanted = wantedCounts(options);
  const runs = new Map<string, Run[]>([NO_RULES, ...SETS].map(({ name }) => [name, []]));
  for (let turn = 0; turn < options.turns; turn += 1) {
    const inOrder = [NO_RULES, ...SETS];
    for (const set of turn % 2 === 0 ? inOrder : inOrder.reverse()) {
      options.tell(`turn ${turn + 1} of ${options.turns}: ${set.name}`);
      runs.get(set.name)?.push(await oneRun(set, wanted, options));
    }
  }
  const alone = runs.get(NO_RULES.name) ?? [];
  const rows = [NO_RULES, ...SETS].map((set) => {
    const ofSet = runs.get(set.name) ?? [];
    const more = ofSet.map(({ micros }, turn) => micros - (alone[turn]?.micros ?? Number.NaN));
    const goal = 'goalMicros' in set ? set.goalMicros : null;
    return [
      set.name,
      set === NO_RULES ? '' : `${shown(ofSet.map(({ readShare }) => 100 * readShare))} %`,
      shown(ofSet.map(({ micros }) => micros)),
      ...(set === NO_RULES ? ['', '', '', ''] : [shown(more), shown(more, 0), shown(more, 1), goal === null ? '' : String(goal)]),
      ofSet.some(({ isBounded }) => isBounded) ? 'yes' : '',
      count(
        percentile(
          ofSet.map(({ eventsPerSecond }) => eventsPerSecond),
          0.5,
        ),
      ),
      shown(ofSet.map(({ shares }) => shares.program)),
      shown(ofSet.map(({ shares }) => shares.sender)),
    ];
  });
  const header = ['rules', 'read', 'CPU', 'more than without', 'least', 'most', 'goal', 'bounded', 'events/s', 'cores: program', 'sender'];
  return { header, rows };
}

const shown = (values: readonly number[], share = 0.5): string => percentile(values, share).toFixed(2);

function eventsOf(options: CostOptions) {
  const warmUp = { seed: WARM_UP_SEED, events: Math.min(WARM_UP_EVENTS, options.events), zones: ZONES, attacks: NO_ATTACKS };
  return { warmUp, measured: { seed: SEED, events: options.events, zones: ZONES, attacks: ATTACKS } };
}

/** How many events each rule has to count. They are the same in every run, but for their times. */
function wantedCounts(options: CostOptions): WantedCounts {
  options.tell('counting what each rule has to find');
  const counts = new WantedCounts();
  for (const events of Object.values(eventsOf(options))) {
    for (const line of pacedEvents({ ...events, perSecond: options.rate, beganMs: 0 })) counts.add(line, SETS);
  }
  return counts;
}

function oneRun(set: MeasuredRules, wanted: WantedCounts, options: CostOptions): Promise<Run> {
  const { rate, batch, memoryLimitMb } = options;
  const { warmUp, measured } = eventsOf(options);
  return inEmptyDataDir('rules', async (dataDir) => {
    await using program = await RuledProgram.start({ dataDir, rules: set.documents, memoryLimitMb });
    const send = (events: typeof warmUp) => {
      const order = { url: program.url, ...events, rate, batch, told: ATTACK_ID };
      return forkSubject<EventSenderReport>('event-sender-subject.ts', order);
    };
    await program.rested((await send(warmUp)).endedAtMs);
    const before = await program.threadTimes();
    const { endedAtMs, eventsPerSecond, coreShare } = await send(measured);
    const whileSending = processorMs(before, await program.threadTimes());
    await program.rested(endedAtMs);
    const stored = measured.events + ATTACKS.count * ATTACKS.events;
    const micros = (processorMs(before, await program.threadTimes()) * 1_000) / stored;
    const shares = { program: (whileSending * eventsPerSecond) / stored / 1_000, sender: coreShare };
    if (set.documents.length === 0) return { micros, shares, eventsPerSecond, readShare: 0, isBounded: false };
    const { rules, alerts } = await program.followed();
    const wrong = rules.filter(({ rule, counted }) => counted !== wanted.of(rule));
    const [first] = wrong;
    if (first !== undefined) {
      throw new Error(`${set.name}: ${wrong.length} rules; ${first.rule} counted ${first.counted} events of ${wanted.of(first.rule)}`);
    }
    if (alerts.length !== ATTACKS.count) throw new Error(`${set.name}: ${alerts.length} alerts of ${ATTACKS.count} attacks`);
    const readShare = Math.max(...rules.map(({ read }) => read)) / (warmUp.events + stored);
    return { micros, shares, eventsPerSecond, readShare, isBounded: rules.some(({ bounded }) => bounded > 0) };
  });
}
