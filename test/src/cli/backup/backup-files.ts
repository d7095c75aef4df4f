import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../../../store/embedded/embedded-store-in.ts';
import { wholeFeed } from '../../../store/embedded/feed/whole-feed.ts';

/** Everything in a folder, by path. */
export function filesIn(path: string): Readonly<Record<string, string>> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(path, name)).isFile());
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'latin1')]));
}

/** The ids of the events in a copy of a backup, in the order of the feed. */
export async function idsIn(backup: string): Promise<string[]> {
  const dataDir = join(temporaryFolder(), 'data');
  cpSync(backup, dataDir, { recursive: true });
  const store = await embeddedStoreIn(dataDir, { now: Date.now });
  const events = await wholeFeed(store);
  await store.close();
  return events.map(({ logId }) => logId);
}
