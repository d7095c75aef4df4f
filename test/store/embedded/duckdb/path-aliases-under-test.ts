import { PathAliases } from '../../../../store/embedded/duckdb/path-aliases.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

/** Aliases to the files of a folder of segments. */
export function pathAliases(segmentsFolder: string): PathAliases {
  return new PathAliases({ segmentsFolder, linksFolder: temporaryFolder(), logger: silentLogger });
}
