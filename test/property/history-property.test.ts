import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsOf } from '../fixtures/answered-rows.ts';
import type { TestStore } from '../fixtures/test-store.ts';
import { oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { ZONES } from './arbitrary-event.ts';
import { appendEvents, generateRawEvents, NOW_MS, openStoreIn, RETENTION_MS, withFolder } from './filled-store.ts';

const HISTORIES = propertyRuns(8);

/** One step in the life of a data folder. */
type Step =
  | { readonly kind: 'append'; readonly count: number }
  /** The same events again, as after a producer's retry. */
  | { readonly kind: 'repeat'; readonly count: number }
  | { readonly kind: 'flush' }
  | { readonly kind: 'compact' }
  | { readonly kind: 'restart' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 40 }) }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant('repeat' as const), count: fc.integer({ min: 1, max: 40 }) }), weight: 1 },
  { arbitrary: fc.constant({ kind: 'flush' as const }), weight: 2 },
  { arbitrary: fc.constant({ kind: 'compact' as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: 'restart' as const }), weight: 1 },
);

/** A store in a folder, and all that was ever accepted into it. */
class Life {
  readonly accepted: RawEvent[] = [];
  readonly #supply: readonly RawEvent[];
  readonly #folder: string;
  #store: TestStore;

  private constructor(supply: readonly RawEvent[], folder: string, store: TestStore) {
    this.#supply = supply;
    this.#folder = folder;
    this.#store = store;
  }

  static async begin(folder: string, supply: readonly RawEvent[]): Promise<Life> {
    return new Life(supply, folder, await openStoreIn(folder));
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'append':
        return await this.#append(this.#supply.slice(this.accepted.length, this.accepted.length + step.count));
      case 'repeat':
        return await appendEvents(this.#store, this.accepted.slice(-step.count));
      case 'flush':
        return await this.#store.settle('flush');
      case 'compact':
        return await this.#store.settle('merge');
      case 'restart':
        await this.#store.close();
        this.#store = await openStoreIn(this.#folder);
        return;
    }
  }

  /** The identities of all events that searches find, sorted; one that is found twice is there twice. */
  async found(): Promise<string[]> {
    const found: string[] = [];
    for (const zoneId of ZONES) {
      const window = { fromMs: NOW_MS - RETENTION_MS, toMs: NOW_MS + 1 };
      for (let index = 0; ; index += 1) {
        const page = { index, size: 500 };
        const result = await this.#store.search({ zones: [zoneId], window, where: { kind: 'everything' }, page, output: { kind: 'rows' } });
        const rows = await rowsOf(result);
        found.push(...rows.map(({ logId, timestamp }) => identity(zoneId, timestamp, logId)));
        if (rows.length < page.size) {
          break;
        }
      }
    }
    return found.sort();
  }

  end(): Promise<void> {
    return this.#store.close();
  }

  async #append(events: readonly RawEvent[]): Promise<void> {
    await appendEvents(this.#store, events);
    this.accepted.push(...events);
  }
}

function identity(zoneId: number, timestamp: number, logId: string): string {
  return JSON.stringify([zoneId, timestamp, logId]);
}

function expected(accepted: readonly RawEvent[]): string[] {
  return oracleEvents(accepted)
    .map(({ zoneId, timestamp, logId }) => identity(zoneId, timestamp, logId))
    .sort();
}

const history = fc.record({ dataSeed: fc.integer(), steps: fc.array(anyStep, { minLength: 3, maxLength: 14 }) });

const keepsEverything = fc.asyncProperty(history, ({ dataSeed, steps }) =>
  withFolder(async (folder) => {
    const life = await Life.begin(folder, generateRawEvents(dataSeed, 600));
    try {
      for (const step of steps) {
        await life.take(step);
        expect(await life.found()).toEqual(expected(life.accepted));
      }
    } finally {
      await life.end();
    }
  }),
);

test('random histories of appends, flushes, compactions and restarts lose no event and double none', async () => {
  await assertAsyncProperty(keepsEverything, { numRuns: HISTORIES });
});
