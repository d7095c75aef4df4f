import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLogger } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { openFilesIn } from '../../fixtures/open-files.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from './embedded-store-in.ts';
import { eventSeries, HOUR, NOW, storedIds } from './stored-events.ts';

interface Trouble {
  readonly options?: Parameters<typeof embeddedStoreIn>[1];
  /** Makes the folder unusable; returns what makes it usable again. */
  readonly damage?: (dataDir: string) => () => void;
  readonly message: RegExp;
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  'most files of the catalog are cut': {
    damage: (dataDir) => {
      const folder = join(dataDir, 'segments');
      const files = readdirSync(folder).map((name) => join(folder, name));
      const whole = new Map(files.map((file) => [file, readFileSync(file)]));
      for (const file of files) truncateSync(file, statSync(file).size - 1);
      return () => {
        for (const [file, content] of whole) writeFileSync(file, content);
      };
    },
    message: /2 of 2 files of the catalog are missing or changed: ".*" has \d+ bytes instead of \d+/,
  },
  'DuckDB does not start': { options: { memoryLimitMb: Number.NaN }, message: /Failed to set config/ },
  'the dead letters cannot be opened': {
    damage: (dataDir) => {
      const file = join(dataDir, 'dead-letters.sqlite');
      mkdirSync(file);
      return () => rmdirSync(file);
    },
    message: /the dead letters in ".*" cannot be opened: unable to open database file/,
  },
  'the journals are loaded, and the log cannot be written': {
    options: {
      logger: {
        ...silentLogger,
        info: () => {
          throw new Error('no room for the log');
        },
      },
    },
    message: /no room for the log/,
  },
};

test.each(Object.entries(TROUBLES))('an opening that fails when %s closes what is open, and the next one succeeds', async (_, trouble) => {
  const dataDir = temporaryFolder();
  const events = eventSeries('e', 20, NOW - HOUR, 1_000);
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch(events.slice(0, 10)));
  await store.flushNow();
  await store.append(canonicalBatch(events.slice(10)));
  await store.close();
  const repair = trouble.damage?.(dataDir);
  await expect(embeddedStoreIn(dataDir, trouble.options)).rejects.toThrow(trouble.message);
  expect(openFilesIn(dataDir)).toEqual([]);
  repair?.();
  const again = await embeddedStoreIn(dataDir);
  expect(openFilesIn(dataDir)).not.toEqual([]);
  expect((await storedIds(again)).toSorted()).toEqual(events.map(({ logId }) => logId).toSorted());
  await again.close();
  expect(openFilesIn(dataDir)).toEqual([]);
});
