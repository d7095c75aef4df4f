import { onTestFinished } from 'vitest';
import { type OpenStore, openEmbeddedStore } from '../../../store/embedded/open-store.ts';
import type { StoreOptions, StoreTuning } from '../../../store/embedded/store-options.ts';
import { settingsOf } from '../../fixtures/temporary-store.ts';

/** An embedded store in `dataDir`, for tests of its insides, that is closed with the test, if it was not before. */
export async function embeddedStoreIn(dataDir: string, options: Partial<StoreOptions> & StoreTuning = {}): Promise<OpenStore> {
  const settings = settingsOf(dataDir, options);
  const store = await openEmbeddedStore(settings, settings);
  onTestFinished(() => store.close());
  return store;
}
