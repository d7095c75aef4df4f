// Compares this checkout with another commit, in turns on the same machine: what both answer, and what it costs them.
//   npm run bench -- compare COMMIT [--events 1000000] [--turns 7] [--only 05,14,explore,intake] [--memory-limit-mb 1024]
// The commit fills a folder, and each side is asked on a copy of it. A ratio above 1 says that this checkout spends more.
import { type ComparedRow, compareRows, exploreRows, type Row, searchRows } from './compare/compared-answers.ts';
import { compareIntake } from './compare/compared-intake.ts';
import { checkOut, type OtherCheckout } from './compare/other-checkout.ts';
import { groupMean, type Measure, ratioOf, ratiosOf } from './compare/paired-ratios.ts';
import { type EngineClient, withEngine } from './engines/engine-client.ts';
import { benchOptions, eventFile, inEmptyDataDir } from './events/event-file.ts';
import { loadWorkloads } from './modes/workload.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { show, tell, textTable } from './report/figures.ts';

/** A mean that is further off tells nothing. */
const TRUSTED = 0.02;

interface Group {
  readonly title: string;
  readonly rows: readonly ComparedRow[];
}

/** Resolves with the status of the command: 1 where answers differ, or the machine is too noisy for the means to be trusted. */
export async function compareWith(name: string, args: readonly string[]): Promise<number> {
  const {
    events,
    turns,
    only,
    'memory-limit-mb': memoryLimitMb,
  } = givenOptions({ events: 1_000_000, turns: 7, only: '', 'memory-limit-mb': 1_024 }, args);
  const other = await checkedOut(name);
  if (other === undefined) return 2;
  try {
    show(circumstancesText(circumstances({ compared: other.commit })));
    const prefixes = only.split(',');
    const isAsked = (row: Pick<Row, 'name'>) => prefixes.some((prefix) => row.name.startsWith(prefix));
    const groups = await measured(other, { events, turns, memoryLimitMb, isAsked });
    for (const { title, rows } of groups) show(`\n${tableOf(title, rows)}`);
    return verdict(groups, other);
  } finally {
    other.remove();
  }
}

async function checkedOut(name: string): Promise<OtherCheckout | undefined> {
  try {
    return await checkOut(name);
  } catch (error) {
    tell(`compare: ${JSON.stringify(name)} cannot be checked out: ${(error as Error).message}`);
    return undefined;
  }
}

interface Measured {
  readonly events: number;
  readonly turns: number;
  readonly memoryLimitMb: number;
  readonly isAsked: (row: Pick<Row, 'name'>) => boolean;
}

async function measured(other: OtherCheckout, { events, turns, memoryLimitMb, isAsked }: Measured): Promise<Group[]> {
  const { path: file } = await eventFile(benchOptions(events));
  const sides = { before: other.host, after: undefined };
  return await inEmptyDataDir('compared', async (dataDir) => {
    tell('a folder is filled');
    const fill = async (engine: EngineClient) => {
      await engine.ingest({ file, eventsPerSecond: null });
      await engine.settle();
    };
    await withEngine('shieldlog', { dataDir, memoryLimitMb }, fill, other.host);
    const groups: Group[] = [];
    const searches = searchRows(await loadWorkloads());
    for (const [title, remembers, rows] of [
      ['searches, nothing remembered', false, searches],
      ['searches, remembered', true, searches],
      ['explorer, first looks, nothing remembered', false, exploreRows('first')],
      ['explorer, second looks', true, exploreRows('second')],
    ] as const) {
      const asked = rows.filter(isAsked);
      if (asked.length > 0) {
        tell(title);
        groups.push({ title, rows: await compareRows({ sides, dataDir, options: { memoryLimitMb, remembers }, turns }, asked) });
      }
    }
    if (isAsked({ name: 'intake' })) {
      tell('intake');
      groups.push({ title: 'intake', rows: await compareIntake({ sides, file, memoryLimitMb, turns }) });
    }
    return groups;
  });
}

const MEASURES = ['cpuMs', 'wallMs'] as const;

function tableOf(title: string, rows: readonly ComparedRow[]): string {
  const header = [title, 'CPU', 'least', 'most', 'wall', 'least', 'most', 'answers'];
  const lines = rows.map(({ name, title: what, pairs, differences }) => [
    `${name} ${what}`,
    ...MEASURES.flatMap((measure) => {
      const ratio = ratioOf(ratiosOf(pairs, measure));
      return ratio === undefined ? ['-', '-', '-'] : [ratio.median, ratio.least, ratio.most].map((value) => value.toFixed(2));
    }),
    differences.length === 0 ? 'equal' : 'DIFFER',
  ]);
  const means = MEASURES.flatMap((measure) => [meanText(rows, measure), '', '']);
  return textTable('', header, [...lines, ['geometric mean', ...means, '']]).trimStart();
}

function meanText(rows: readonly ComparedRow[], measure: Measure): string {
  return (
    groupMean(
      rows.map(({ pairs }) => pairs),
      measure,
    )?.mean.toFixed(3) ?? '-'
  );
}

function verdict(groups: readonly Group[], other: OtherCheckout): number {
  const differences = groups.flatMap(({ rows }) => rows.flatMap((row) => row.differences));
  for (const difference of differences) tell(difference);
  const noisy = groups.flatMap(({ title, rows }) => {
    const pairs = rows.map((row) => row.pairs);
    const group = groupMean(pairs, 'cpuMs') ?? groupMean(pairs, 'wallMs');
    const isOff = other.isSame && group !== undefined && Math.abs(group.mean - 1) > TRUSTED;
    return group !== undefined && (isOff || group.spread > TRUSTED)
      ? [`${title} (${(group.spread * 100).toFixed(1)} % between turns)`]
      : [];
  });
  if (noisy.length > 0) tell(`too noisy to tell: ${noisy.join('; ')}; stop what else runs here, or take more --turns`);
  return differences.length > 0 || noisy.length > 0 ? 1 : 0;
}
