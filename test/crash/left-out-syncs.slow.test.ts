import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import './recorded-calls.ts';
import { type CrashPoint, crashPoints, KILL, recordedLife, TriedFolders, whatIsWrong } from './crash.ts';
import { WHOLE_LIFE } from './histories.ts';
import { DATA_DIR, type History } from './history.ts';
import type { Sync } from './recording.ts';

const JOURNALS = `${DATA_DIR}/journal`;
const SEGMENTS = `${DATA_DIR}/segments`;

const isFileOf = (folder: string, name: RegExp) => (sync: Sync) => dirname(sync.path) === folder && name.test(sync.path);
const isFolder = (folder: string) => (sync: Sync) => sync.path === folder;
const comesFrom = (name: string, { place }: Sync) => place.some((one) => one.endsWith(name));
const isWithJournal = (sync: Sync) => comesFrom('JournalFolder.write', sync);
const isWithSegments = (sync: Sync) => comesFrom('NewSegments.finish', sync);

/** Every sync of the store: what it makes durable, and how it is known. */
const SYNCS: Readonly<Record<string, (sync: Sync) => boolean>> = {
  'the events of a journal': isFileOf(JOURNALS, /\.parquet$/),
  'the logs of a journal': isFileOf(JOURNALS, /\.logs$/),
  'the name of a journal': (sync) => isFolder(JOURNALS)(sync) && isWithJournal(sync),
  'the removal of a refused journal': (sync) => isFolder(JOURNALS)(sync) && !isWithJournal(sync),
  'a segment': isFileOf(SEGMENTS, /-\d+\.parquet\.tmp$/),
  'the name of a segment': (sync) => isFolder(SEGMENTS)(sync) && isWithSegments(sync),
  'a blob file': isFileOf(SEGMENTS, /-log\.parquet\.tmp$/),
  'the name of a blob file': (sync) => isFolder(SEGMENTS)(sync) && !isWithSegments(sync),
  'the folders in DATA_DIR': isFolder(DATA_DIR),
  'the name of DATA_DIR': isFolder(dirname(DATA_DIR)),
  'the name of the folder above DATA_DIR': isFolder(''),
};

let life: History;
beforeAll(async () => {
  life = await recordedLife(WHOLE_LIFE);
});

function recordedSyncs(): Sync[] {
  return life.recording.operations.filter((operation) => 'place' in operation && operation.place.length > 0) as Sync[];
}

/**
 * Says what a power loss does that takes only what some syncs were to make durable, all of it or one kind of change; undefined where it
 * does nothing.
 */
async function lossWithout(isLeftOut: (sync: Sync) => boolean): Promise<string | undefined> {
  const tried = new TriedFolders();
  const incomplete = crashPoints(life, (sync) => !isLeftOut(sync));
  for (const whole of crashPoints(life)) {
    const { disk, truth } = incomplete.next().value as CrashPoint;
    tried.add(whole.disk.left(KILL), truth);
    const unsyncedAnyway = whole.disk.unsynced();
    const unsynced = [...disk.unsynced()].filter((change) => !unsyncedAnyway.has(change));
    for (const kind of [undefined, ...new Set(unsynced.map((change) => change.kind))]) {
      const lost = new Set(unsynced.filter((change) => kind === undefined || change.kind === kind));
      const left = disk.left((change) => (lost.has(change) ? 'lost' : 'kept'));
      const wrong = tried.add(left, truth) ? await whatIsWrong(left, truth) : undefined;
      if (wrong !== undefined) return wrong;
    }
  }
  return undefined;
}

test('every sync of the store has a row here', () => {
  const rowsOf = (sync: Sync) => Object.keys(SYNCS).filter((name) => SYNCS[name]?.(sync));
  expect(recordedSyncs().filter((sync) => rowsOf(sync).length !== 1)).toEqual([]);
});

describe.each(Object.entries(SYNCS))('%s', (_, isLeftOut) => {
  test('is lost in a power loss if the store does not sync it', async () => {
    expect(recordedSyncs().filter(isLeftOut)).not.toEqual([]);
    expect(await lossWithout(isLeftOut)).toMatch(/ lacks | has something else of | was never sent| cannot be used/);
  });
});
