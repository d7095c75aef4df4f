import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineName } from './engine.ts';
import { withEngine } from './engine-client.ts';

/** What each engine calls its version. */
export async function engineVersions(names: readonly EngineName[]): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const name of names) {
    const dataDir = await mkdtemp(join(tmpdir(), `${name}-`));
    const options = { dataDir, memoryLimitMb: 256 };
    versions[name] = await withEngine(name, options, (engine) => engine.version()).finally(() => rm(dataDir, { recursive: true }));
  }
  return versions;
}
