import { expect, onTestFinished, test } from 'vitest';
import { BackgroundJobs, type BackgroundJobsOptions } from '../../../store/embedded/background-jobs.ts';
import { ExpiredWatermarks } from '../../../store/embedded/catalog/expired-watermarks.ts';
import type { WriteMerge } from '../../../store/embedded/compaction/merge.ts';
import { silentLogger } from '../../../store/event-store.ts';
import { RetentionHold } from '../../../store/retention-hold.ts';
import { RETENTION_MS } from '../../fixtures/temporary-store.ts';
import { twoSegments } from './compaction/two-segments.ts';
import { HOUR, NOW } from './stored-events.ts';

/** The jobs of a store with two segments that are worth a merge, and how often each kind of work was done. */
async function jobsWith(writeInBackground: WriteMerge) {
  const { options: compaction, catalog, versions, write } = await twoSegments();
  const clock = { nowMs: NOW + 14 * HOUR };
  const done = { flushes: 0, letters: 0, givenUp: 0 };
  const options: BackgroundJobsOptions = {
    pipeline: { betweenLoads: (work) => work(), pendingBytes: 0 },
    loader: {
      close: () => Promise.resolve(),
      closeIfOld: async () => {
        done.flushes += 1;
      },
    },
    flusher: { idle: () => Promise.resolve(), isIdle: true },
    remover: { idle: () => Promise.resolve() },
    scrub: { readNext: () => Promise.resolve() },
    journals: { removeRecycled: () => Promise.resolve(), removeSetAside: () => Promise.resolve() },
    logMemory: { giveRoomBack: () => undefined },
    compaction,
    merges: {
      writeInBackground,
      writeAtOnce: write,
      giveUp: () => {
        done.givenUp += 1;
      },
    },
    retention: {
      catalog,
      versions,
      expiredWatermarks: new ExpiredWatermarks(),
      lastSequences: () => Promise.resolve(new Map([[7, 1n]])),
      retentionMs: RETENTION_MS,
      hold: new RetentionHold({ what: 'events', waitMs: 0, elapsedMs: () => 0, logger: silentLogger }),
    },
    deadLetters: {
      removeExpired: async () => {
        done.letters += 1;
      },
    },
    letterHold: new RetentionHold({ what: 'dead letters', waitMs: 0, elapsedMs: () => 0, logger: silentLogger }),
    now: () => clock.nowMs,
    everyMs: 5,
    logger: silentLogger,
  };
  const jobs = new BackgroundJobs(options);
  onTestFinished(() => jobs.stop());
  return { jobs, versions, catalog, clock, done };
}

test('while a merge is held up, expired segments are dropped, old memtables flushed and the other jobs run again and again', async () => {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<never>();
  onTestFinished(() => held.reject(new Error('given up')));
  const { jobs, versions, catalog, clock, done } = await jobsWith(() => {
    begun.resolve();
    return held.promise;
  });
  await begun.promise;
  const { flushes, letters } = done;
  clock.nowMs = NOW + RETENTION_MS + HOUR;
  await expect.poll(() => versions.segments).toEqual([]);
  expect(catalog.segments()).toEqual([]);
  await expect.poll(() => done.flushes).toBeGreaterThan(flushes + 1);
  await expect.poll(() => done.letters).toBeGreaterThan(letters + 1);
  const stopped = jobs.stop();
  expect(done.givenUp).toBe(1);
  held.reject(new Error('given up'));
  await stopped;
});

test('a job that fails is tried again, and holds up no other', async () => {
  let failures = 0;
  const { done, clock, versions } = await jobsWith(() => {
    failures += 1;
    return Promise.reject(new Error('no room'));
  });
  const anotherHour = () => {
    clock.nowMs += HOUR;
    return failures;
  };
  await expect.poll(anotherHour).toBeGreaterThan(2);
  expect(done.flushes).toBeGreaterThan(0);
  clock.nowMs = NOW + RETENTION_MS + HOUR;
  await expect.poll(() => versions.segments).toEqual([]);
});
