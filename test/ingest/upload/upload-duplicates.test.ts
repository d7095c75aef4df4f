import { readdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takeInEvents } from '../../../ingest/upload/event-intake.ts';
import type { IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { sequenceOf } from '../../../store/embedded/feed/feed-positions.ts';
import type { OpenStore } from '../../../store/embedded/open-store.ts';
import { RETENTION_MS, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { assertAsyncProperty } from '../../random/assert-property.ts';
import { propertyRuns } from '../../random/property-runs.ts';
import { embeddedStoreIn } from '../../store/embedded/embedded-store-in.ts';
import { NOW, storedIds } from '../../store/embedded/stored-events.ts';

/*
 * The dimensions of what an upload tells of its duplicates:
 * - where an event was before: nowhere, earlier in the request, in a request at the same time, in a growing table, in a journal of its own
 *   (some thousand events), flushed, merged, reloaded after a restart or a crash;
 * - what else is in the request: new events, expired ones, rejected ones, nothing at all;
 * - how many requests there are at the same time;
 * - whether the store remembers what it has, or has to look.
 */

/** A journal with so many events becomes a part of its own. */
const LARGE = 4_200;
const NAMES = 12;

/** One upload: events by their name, and what is no event that can be stored. */
interface Upload {
  readonly names: readonly number[];
  /** Whether the same thousands of events come with it. */
  readonly isLarge: boolean;
  readonly expired: number;
  readonly rejected: number;
}

type Step = { readonly kind: 'uploads'; readonly uploads: readonly Upload[] } | { readonly kind: 'flush' | 'merge' | 'restart' | 'crash' };

const anyUpload: fc.Arbitrary<Upload> = fc.record({
  names: fc.array(fc.nat({ max: NAMES - 1 }), { maxLength: 8 }),
  isLarge: fc.oneof({ arbitrary: fc.constant(false), weight: 9 }, { arbitrary: fc.constant(true), weight: 1 }),
  expired: fc.nat({ max: 1 }),
  rejected: fc.nat({ max: 1 }),
});

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('uploads' as const), uploads: fc.tuple(anyUpload) }), weight: 5 },
  {
    arbitrary: fc.record({ kind: fc.constant('uploads' as const), uploads: fc.array(anyUpload, { minLength: 2, maxLength: 6 }) }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('flush' as const, 'merge' as const, 'restart' as const, 'crash' as const) }), weight: 4 },
);

function idsOf({ names, isLarge }: Upload): string[] {
  const large = isLarge ? Array.from({ length: LARGE }, (_, index) => `large-${index}`) : [];
  return [...names.map((name) => `name-${name}`), ...large];
}

const line = (event: object): string => `${JSON.stringify(event)}\n`;

function textOf(upload: Upload): string {
  const events = idsOf(upload).map((logId) => line({ logId, shieldZoneId: 7, timestamp: NOW - 60_000 }));
  const expired = Array.from({ length: upload.expired }, () => line({ shieldZoneId: 7, timestamp: NOW - RETENTION_MS - 3_600_000 }));
  const rejected = Array.from({ length: upload.rejected }, () => line({ timestamp: NOW }));
  return [...rejected, ...events, ...expired].join('');
}

/** A store in a folder, and what an exact count would be. */
class Life {
  readonly #stored = new Set<string>();
  readonly #maxDedupEvents: number;
  #expired = 0;
  #duplicates = 0;
  #folder: string;
  #store: OpenStore;

  private constructor(folder: string, store: OpenStore, maxDedupEvents: number) {
    this.#folder = folder;
    this.#store = store;
    this.#maxDedupEvents = maxDedupEvents;
  }

  static async begin(maxDedupEvents: number): Promise<Life> {
    const folder = temporaryFolder();
    return new Life(folder, await embeddedStoreIn(folder, { maxDedupEvents }), maxDedupEvents);
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'uploads':
        return this.#upload(step.uploads);
      case 'flush':
        return this.#store.flushNow();
      case 'merge':
        return this.#store.compactNow();
      case 'restart':
        await this.#store.close();
        return this.#openAgain();
      case 'crash': {
        // A killed process leaves the files as they are.
        const copy = temporaryFolder();
        await cp(this.#folder, copy, { recursive: true });
        await this.#store.close();
        this.#folder = copy;
        return this.#openAgain();
      }
    }
  }

  async expectRight(): Promise<void> {
    expect(new Set(await storedIds(this.#store))).toEqual(this.#stored);
    expect(await this.#store.stats()).toMatchObject({
      events: this.#stored.size,
      expiredEvents: this.#expired,
      duplicateEvents: this.#duplicates,
    });
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async #openAgain(): Promise<void> {
    const last = sequenceOf(await this.#store.positions.newest());
    this.#store = await embeddedStoreIn(this.#folder, { maxDedupEvents: this.#maxDedupEvents });
    // A reader of the feed may have got as far as that: no later event may stand before it.
    expect(sequenceOf(await this.#store.positions.newest())).toBe(last);
  }

  async #upload(uploads: readonly Upload[]): Promise<void> {
    const journals = this.#journals();
    const { journalBytes } = await this.#store.stats();
    const reports = await Promise.all(uploads.map((upload) => this.#send(upload)));
    const sent = uploads.flatMap(idsOf);
    const fresh = new Set(sent.filter((id) => !this.#stored.has(id)));
    for (const [index, upload] of uploads.entries()) {
      expect(reports[index]).toMatchObject({
        accepted: idsOf(upload).length,
        expired: upload.expired,
        rejectedCount: upload.rejected,
      });
    }
    const duplicates = reports.map((report) => report.duplicates ?? Number.NaN);
    // Exactly one of several requests at the same time counts an event as new.
    expect(duplicates.reduce((sum, count) => sum + count, 0)).toBe(sent.length - fresh.size);
    for (const [index, upload] of uploads.entries()) {
      const ids = idsOf(upload);
      expect(duplicates[index]).toBeGreaterThanOrEqual(ids.length - new Set(ids.filter((id) => fresh.has(id))).size);
    }
    for (const id of fresh) this.#stored.add(id);
    this.#expired += uploads.reduce((sum, { expired }) => sum + expired, 0);
    this.#duplicates += sent.length - fresh.size;
    if (fresh.size === 0) {
      expect(this.#journals()).toEqual(journals);
      expect((await this.#store.stats()).journalBytes).toBe(journalBytes);
    }
  }

  #send(upload: Upload): Promise<IntakeReport> {
    return takeInEvents(inParts(textOf(upload)), { store: this.#store, source: 'http', now: () => NOW, retentionMs: RETENTION_MS });
  }

  #journals(): string[] {
    return readdirSync(join(this.#folder, 'journal'));
  }
}

async function* inParts(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}

test.each([
  ['from memory', 1_000_000],
  ['by looking', 0],
])(
  'every upload is told exactly how many of its events were stored already, found %s, and one without a new event leaves no file',
  async (_, maxDedupEvents) => {
    await assertAsyncProperty(
      fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 10 }), async (steps) => {
        const life = await Life.begin(maxDedupEvents);
        for (const step of steps) {
          await life.take(step);
          await life.expectRight();
        }
        await life.close();
      }),
      { numRuns: propertyRuns(2) },
    );
  },
);

const STATES = [
  ['earlier in the request', [], ['a', 'a']],
  ['in the journal', ['upload'], ['a']],
  ['flushed', ['upload', 'flush'], ['a']],
  ['merged', ['upload', 'flush', 'upload-other', 'flush', 'merge'], ['a']],
  ['reloaded', ['upload', 'restart'], ['a']],
  ['reloaded after a crash', ['upload', 'crash'], ['a']],
  ['in a journal without files', ['upload', 'upload', 'restart'], ['a']],
] as const;

test.each(STATES)('an event that is %s counts as a duplicate', async (_, before, names) => {
  const life = await Life.begin(1_000_000);
  const upload = (sent: readonly ('a' | 'b')[]): Step => ({
    kind: 'uploads',
    uploads: [{ names: sent.map((name) => 'ab'.indexOf(name)), isLarge: false, expired: 0, rejected: 0 }],
  });
  for (const step of before) {
    if (step === 'upload') await life.take(upload(['a']));
    else if (step === 'upload-other') await life.take(upload(['b']));
    else await life.take({ kind: step });
  }
  await life.take(upload(names));
  await life.expectRight();
});

test('uploads of duplicates alone are flushed by what their logs take in memory, as others are', async () => {
  const store = await embeddedStoreIn(temporaryFolder());
  const log = { padding: 'x'.repeat(900_000) };
  const text = line({ logId: 'large', shieldZoneId: 7, timestamp: NOW - 60_000, log });
  const upload = (): Promise<IntakeReport> =>
    takeInEvents(inParts(text), { store, source: 'http', now: () => NOW, retentionMs: RETENTION_MS });
  expect((await upload()).duplicates).toBe(0);
  // More than the 128 MiB at which a memtable is flushed.
  for (let sent = 0; sent < 155; sent += 1) expect((await upload()).duplicates).toBe(1);
  await expect.poll(async () => (await store.stats()).segments).toBe(1);
  expect(await storedIds(store)).toEqual(['large']);
});

test('a store with hundreds of journals without files opens again, and each is looked up by its number', async () => {
  const folder = temporaryFolder();
  const store = await embeddedStoreIn(folder);
  const text = line({ logId: 'a', shieldZoneId: 7, timestamp: NOW - 60_000 });
  const upload = (): Promise<IntakeReport> =>
    takeInEvents(inParts(text), { store, source: 'http', now: () => NOW, retentionMs: RETENTION_MS });
  for (let sent = 0; sent < 400; sent += 1) await upload();
  const last = sequenceOf(await store.positions.newest());
  const copy = temporaryFolder();
  await cp(folder, copy, { recursive: true });
  await store.close();
  const again = await embeddedStoreIn(copy);
  expect(sequenceOf(await again.positions.newest())).toBe(last);
  expect(await again.stats()).toMatchObject({ events: 1, duplicateEvents: 399 });
});
