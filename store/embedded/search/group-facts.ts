import type { DuckDBValue } from '@duckdb/node-api';
import type { GroupsOutput } from '../../../query/plan/search-plan.ts';
import type { GroupContext } from '../../../query/plan/search-result.ts';
import {
  DETAIL_ROWS,
  FINISHED_ROWS,
  type GroupPage,
  groupContextStatement,
  groupDetailStatement,
  groupFactsToAddStatement,
  isDirect,
  MAX_ADDED_FACTS,
  MAX_FACTS,
  TOO_LONG,
} from '../../../sql/group-fact-statements.ts';
import { type SqlFragment, unmarkText } from '../../../sql/statement.ts';
import { compareCodePoints } from '../runtime/compare-code-points.ts';
import type { SearchScope } from './search-scope.ts';

/** A page of groups: their keys in the order of the answer, and the facts of each. */
export interface FoundGroups {
  /** Number of all groups, on this page and others. */
  readonly total: number;
  readonly keys: readonly (readonly string[])[];
  readonly facts: readonly GroupFacts[];
}

/** A page of groups whose facts are not known yet. */
export interface CountedPage extends GroupPage {
  readonly total: number;
  /** The number of events of each group. */
  readonly counts: readonly number[];
}

/** Reads the rows of a `groupPageStatement`. */
export function pageIn(rows: readonly DuckDBValue[][]): CountedPage {
  const groups = rows.filter((row) => row.at(-1) !== null);
  const total = Number(rows[0]?.[0] ?? 0);
  const keys = groups.map((row) => row.slice(1, -1).map((key) => unmarkText(key as string)));
  return { total, keys, counts: groups.map((row) => Number(row.at(-1))), isWhole: keys.length === total };
}

type Counts = Map<string, number>;

/** A text of the context, by the kind of the row that has it. */
const FINISHED: ReadonlyMap<number, FinishedText> = new Map(
  Object.entries(FINISHED_ROWS).map(([name, kind]) => [kind, name as FinishedText]),
);

type FinishedText = keyof typeof FINISHED_ROWS;

/**
 * The facts of one group, added up piece by piece. A null value stands for events without that field; the context leaves it out. Where the
 * engine has made texts of the context, nothing can be added to them.
 */
export class GroupFacts {
  count = 0;
  firstSeen = Number.POSITIVE_INFINITY;
  lastSeen = Number.NEGATIVE_INFINITY;
  readonly sparkline: number[];
  readonly #countries: Counts = new Map();
  readonly #asns: Counts = new Map();
  readonly #actions: Counts = new Map();
  readonly #features: Counts = new Map();
  readonly #ruleIds = new Set<string>();
  readonly #finished: Partial<Record<FinishedText, string>> = {};

  constructor(buckets: number) {
    this.sparkline = new Array<number>(buckets).fill(0);
  }

  addSpan(events: number, firstSeen: number, lastSeen: number): void {
    this.count += events;
    this.firstSeen = Math.min(this.firstSeen, firstSeen);
    this.lastSeen = Math.max(this.lastSeen, lastSeen);
  }

  addBucket(bucket: number, events: number): void {
    this.sparkline[bucket] = (this.sparkline[bucket] ?? 0) + events;
  }

  addOrigin(country: string | null, asn: string | null, events: number): void {
    add(this.#countries, country, events);
    add(this.#asns, asn, events);
  }

  addAction(action: string | null, feature: string | null, events: number): void {
    add(this.#actions, action, events);
    add(this.#features, feature, events);
  }

  addRules(ruleIds: Iterable<string>): void {
    for (const ruleId of ruleIds) {
      this.#ruleIds.add(ruleId);
    }
  }

  /** Sets a text of the context as the engine has made it. */
  finish(name: FinishedText, text: string): void {
    this.#finished[name] = text;
  }

  /** Adds the facts of further events of the group, without their sparkline, whose buckets may be those of another window. */
  addAll(other: GroupFacts): void {
    this.addSpan(other.count, other.firstSeen, other.lastSeen);
    addEach(this.#countries, other.#countries);
    addEach(this.#asns, other.#asns);
    addEach(this.#actions, other.#actions);
    addEach(this.#features, other.#features);
    this.addRules(other.#ruleIds);
  }

  /** The different values of each field. They are what takes memory. */
  values(): readonly string[] {
    const counted = [this.#countries, this.#asns, this.#actions, this.#features];
    return [...counted.flatMap((counts) => [...counts.keys()]), ...this.#ruleIds];
  }

  context(): GroupContext {
    return {
      country: this.#finished.country ?? mostFrequent(this.#countries),
      asn: this.#finished.asn ?? mostFrequent(this.#asns),
      blocked: this.#actions.get('blocked') ?? 0,
      challenged: this.#actions.get('challenged') ?? 0,
      logged: this.#actions.get('logged') ?? 0,
      features: this.#finished.features ?? distinct(this.#features.keys()),
      ruleIds: this.#finished.ruleIds ?? distinct(this.#ruleIds),
    };
  }
}

function add(counts: Counts, value: string | null, events: number): void {
  if (value !== null) {
    counts.set(value, (counts.get(value) ?? 0) + events);
  }
}

function addEach(counts: Counts, others: Counts): void {
  for (const [value, events] of others) {
    add(counts, value, events);
  }
}

/** The most frequent value, the smallest by code point among equals; the empty string where there is none. */
function mostFrequent(counts: ReadonlyMap<string, number>): string {
  let best: string | undefined;
  let most = 0;
  for (const [value, events] of counts) {
    if (best === undefined || events > most || (events === most && compareCodePoints(value, best) < 0)) {
      best = value;
      most = events;
    }
  }
  return best ?? '';
}

function distinct(values: Iterable<string>): string {
  return [...values].sort(compareCodePoints).join(',');
}

/** Groups with more events mostly have so many values that the engine makes the texts of their contexts in less time. */
const MANY_EVENTS = 50_000;

/** Reads the facts of a page of groups from these events. */
export async function readFacts(
  scope: SearchScope,
  output: GroupsOutput,
  page: CountedPage,
  events: SqlFragment,
): Promise<readonly GroupFacts[]> {
  if (page.counts.reduce((sum, count) => sum + count, 0) <= MANY_EVENTS) {
    const details = await scope.runner.run(groupDetailStatement(scope.plan, output, page, events));
    if (!areTooMany(details)) {
      return factsIn(details, page, output);
    }
  }
  return await readContexts(scope, output, page, events);
}

/** Reads facts as {@link readFacts} does, of groups with many values: the engine makes the texts of their contexts. */
export async function readContexts(
  { plan, runner }: SearchScope,
  output: GroupsOutput,
  page: GroupPage,
  events: SqlFragment,
): Promise<readonly GroupFacts[]> {
  return factsIn(await runner.run(groupContextStatement(plan, output, page, events)), page, output);
}

/** Reads facts as {@link readFacts} does, for others to be added; undefined where the groups have too many values for that. */
export async function readFactsToAddUp(
  { plan, runner }: SearchScope,
  output: GroupsOutput,
  page: GroupPage,
  events: SqlFragment,
): Promise<readonly GroupFacts[] | undefined> {
  const facts = new PageFacts(page, output);
  let [rows, characters] = [0, 0];
  const statement = groupFactsToAddStatement(plan, output, page, events);
  const isWhole = await runner.stream(statement, (chunk) => {
    const details = chunk.getRows();
    rows += details.length;
    characters += details.flat().reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
    if (rows > MAX_ADDED_FACTS.rows || characters > MAX_ADDED_FACTS.characters || haveLongTexts(details)) {
      return false;
    }
    facts.take(details);
    return true;
  });
  return isWhole ? facts.groups : undefined;
}

/** Makes facts of the rows of a `groupDetailStatement` or a `groupContextStatement`, one element for each key of the page. */
export function factsIn(details: readonly DuckDBValue[][], page: GroupPage, output: GroupsOutput): readonly GroupFacts[] {
  const facts = new PageFacts(page, output);
  facts.take(details);
  return facts.groups;
}

/** The facts of a page of groups, to which rows are added block by block. */
class PageFacts {
  /** One element for each key of the page. */
  readonly groups: readonly GroupFacts[];
  readonly #positions: ReadonlyMap<string | undefined, number> | undefined;

  constructor({ keys, isWhole }: GroupPage, output: GroupsOutput) {
    this.groups = keys.map(() => new GroupFacts(output.buckets));
    this.#positions = isDirect(output, isWhole) ? new Map(keys.map(([key], position) => [key, position])) : undefined;
  }

  take(details: readonly DuckDBValue[][]): void {
    for (const [index, absent, country, asn, action, feature, events, firstSeen, lastSeen, listed] of details) {
      const position = this.#positions === undefined ? Number(index) : this.#positions.get(textOf(index) ?? '');
      const group = this.groups[position as number] as GroupFacts;
      const finished = FINISHED.get(Number(absent));
      if (finished !== undefined) {
        group.finish(finished, textOf(listed) ?? '');
        continue;
      }
      switch (Number(absent)) {
        case DETAIL_ROWS.origin:
          group.addOrigin(textOf(country), textOf(asn), Number(events));
          break;
        case DETAIL_ROWS.action:
          group.addSpan(Number(events), Number(firstSeen), Number(lastSeen));
          group.addAction(textOf(action), textOf(feature), Number(events));
          break;
        case DETAIL_ROWS.buckets:
          for (const pair of listOf(listed)) {
            const [bucket, inBucket] = pair.split(':');
            group.addBucket(Number(bucket), Number(inBucket));
          }
          break;
        default:
          // Sorted ones are sorted again in a fraction of the time, each time they are added to others.
          group.addRules(listOf(listed).sort(compareCodePoints));
      }
    }
  }
}

/** Whether the rows of a `groupDetailStatement` say that its groups have more or longer values than are put together here. */
export function areTooMany(details: readonly DuckDBValue[][]): boolean {
  return details.length > MAX_FACTS.rows || haveLongTexts(details);
}

function haveLongTexts(details: readonly DuckDBValue[][]): boolean {
  return details.some((row) => row.includes(TOO_LONG));
}

function listOf(listed: DuckDBValue | undefined): string[] {
  return typeof listed === 'string' ? JSON.parse(listed) : [];
}

function textOf(marked: DuckDBValue | undefined): string | null {
  return typeof marked === 'string' ? unmarkText(marked) : null;
}
