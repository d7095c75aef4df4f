import { join } from 'node:path';
import fc from 'fast-check';
import { withFolder } from '../property/filled-store.ts';
import { DATA_DIR, History, openStoreAt, type Step } from './history.ts';
import { type Change, Disk, digestOfFolder, type Fate, type LeftFolder, writeFolder } from './left-folder.ts';
import type { Operation, Sync } from './recording.ts';
import { contradiction, type Truth, whatIsFound } from './truth.ts';

/** The whole life of a new data folder, which ends with its store. */
export function recordedLife(steps: readonly Step[]): Promise<History> {
  return withFolder(async (root) => {
    const life = await History.begin(root, steps);
    await life.end();
    return life;
  });
}

/** A moment of a history at which it may end: behind so many of its operations. */
export interface CrashPoint {
  readonly after: number;
  readonly disk: Disk;
  readonly truth: Truth;
}

/** All moments of a history, in their order. The disk of one becomes that of the next. `isDone` tells which syncs count; all by default. */
export function* crashPoints(history: History, isDone: (sync: Sync) => boolean = () => true): Generator<CrashPoint> {
  const disk = new Disk();
  for (const [index, operation] of history.recording.operations.entries()) {
    if ('place' in operation && !isDone(operation)) disk.skip();
    else disk.apply(operation);
    const truth = history.truths.findLast(({ from }) => from <= index + 1)?.truth;
    if (truth !== undefined) yield { after: index + 1, disk, truth };
  }
}

/** What a kind of crash makes of the unsynced changes. */
export type Crash = (change: Change) => Fate;

const isName = ({ kind }: Change) => kind !== 'write' && kind !== 'cut';

export const KILL: Crash = () => 'kept';

/** Power losses that keep all of one kind of change and nothing of another. */
export const PLAIN_POWER_LOSSES: Readonly<Record<string, Crash>> = {
  'nothing unsynced is left': () => 'lost',
  'names are left, content is not': (change) => (isName(change) ? 'kept' : 'lost'),
  'content is left, names are not': (change) => (isName(change) ? 'lost' : 'kept'),
};

const anyFate: fc.Arbitrary<Fate> = fc.oneof(
  fc.constant<Fate>('kept'),
  fc.constant<Fate>('lost'),
  fc.tuple(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
  fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constant(1)),
);

/** A power loss that deals with each change as the seed has it. */
function drawnPowerLoss(seed: number, disk: Disk): Crash {
  const changes = [...disk.unsynced()];
  const fates = new Map(fc.sample(anyFate, { seed, numRuns: changes.length }).map((fate, index) => [changes[index], fate]));
  return (change) => fates.get(change) ?? 'kept';
}

/** Opens what a crash has left. Says what is wrong with it; undefined where nothing is. */
export async function whatIsWrong(left: LeftFolder, truth: Truth): Promise<string | undefined> {
  return await withFolder(async (root) => {
    writeFolder(root, left);
    try {
      const store = await openStoreAt(join(root, DATA_DIR), () => truth.nowMs);
      try {
        return contradiction(await whatIsFound(store), truth);
      } finally {
        await store.close();
      }
    } catch (error) {
      return `what is left cannot be used: ${(error as Error).message}`;
    }
  });
}

/** Crashes once, goes on, and crashes again: at any moment of the recovery, and of the appends and the restart behind it. */
export async function crashTwice(life: History, first: CrashesAt, second: CrashesAt): Promise<number> {
  let tried = 0;
  for (const point of crashPoints(life)) {
    for (const crash of Object.values(first(point))) {
      tried += await tryCrashes(await lifeAfter(crash, point, life), second);
    }
  }
  return tried;
}

/**
 * Kills the first process at each moment at which the unsynced paths are others than at the one before, goes on, and loses what is unsynced
 * at every moment at which some of that is from before the kill. Resolves with the number of folders.
 */
export async function loseWhatIsTakenOver(life: History): Promise<number> {
  let tried = 0;
  let before: readonly string[] = [];
  for (const point of crashPoints(life)) {
    const unsynced = point.disk.unsyncedPaths();
    if (unsynced.length > 0 && unsynced.join() !== before.join()) {
      const second = await lifeAfter(KILL, point, life);
      const takenOver = new Set<Operation>(second.recording.operations.slice(0, second.truths[0]?.from));
      const isAnyUnsynced = (disk: Disk) => [...disk.unsynced()].some((change) => takenOver.has(change));
      tried += await tryCrashes(second, ({ disk }) => (isAnyUnsynced(disk) ? { 'nothing unsynced is left': () => 'lost' } : {}));
    }
    before = unsynced;
  }
  return tried;
}

/** Goes on with what a crash has left: its store takes in events, and starts again. Resolves with that life. */
async function lifeAfter(crash: Crash, { disk, truth }: CrashPoint, { sent }: History): Promise<History> {
  const unsynced = crash === KILL ? disk.unsyncedPaths() : [];
  return await withFolder(async (root) => {
    writeFolder(root, disk.left(crash));
    const steps = [{ kind: 'append', count: 2, twins: 1, hasOffset: true }, { kind: 'restart' }, { kind: 'append', count: 1 }] as const;
    const life = await History.begin(root, steps, { truth, sent, unsynced });
    try {
      const wrong = contradiction(await whatIsFound(life.store), life.truth);
      if (wrong !== undefined) throw new Error(`what goes on after a crash is not right: ${wrong}`);
      return life;
    } finally {
      await life.end();
    }
  });
}

/** The crashes to try at a moment. */
export type CrashesAt = (point: CrashPoint) => Readonly<Record<string, Crash>>;

export const kills: CrashesAt = () => ({ 'a kill': KILL });

/** One power loss at a moment, which the seed decides. */
export const drawnPowerLosses =
  (seed = 0): CrashesAt =>
  ({ after, disk }) => ({ 'a drawn power loss': drawnPowerLoss(seed ^ after, disk) });

/** Tries no crash but at every so many moments. */
export const atEvery =
  (every: number, crashesAt: CrashesAt): CrashesAt =>
  (point) =>
    point.after % every === 0 ? crashesAt(point) : {};

/**
 * Tries crashes at all moments of a history. Each folder that they leave is opened once. Throws at the first one that is not as it has to
 * be; resolves with the number of folders.
 */
export async function tryCrashes(history: History, crashesAt: CrashesAt): Promise<number> {
  const tried = new TriedFolders();
  for (const { after, disk, truth } of crashPoints(history)) {
    for (const [name, crash] of Object.entries(crashesAt({ after, disk, truth }))) {
      const left = disk.left(crash);
      const wrong = tried.add(left, truth) ? await whatIsWrong(left, truth) : undefined;
      if (wrong !== undefined) {
        throw new Error(`${name}, after operation ${after} (${nameOf(history.recording.operations[after - 1])}): ${wrong}`);
      }
    }
  }
  return tried.count;
}

/** The folders that crashes left and that were tried, each with what has to hold of it. */
export class TriedFolders {
  readonly #digests = new Map<Truth, Set<string>>();

  get count(): number {
    return [...this.#digests.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Returns whether it is new. */
  add(left: LeftFolder, truth: Truth): boolean {
    const digests = this.#digests.get(truth) ?? new Set();
    this.#digests.set(truth, digests);
    const before = digests.size;
    return digests.add(digestOfFolder(left)).size > before;
  }
}

function nameOf(operation: Operation | undefined): string {
  return JSON.stringify(operation, (_, value) => (value instanceof Map ? [...value.keys()] : value?.type === 'Buffer' ? 'bytes' : value));
}
