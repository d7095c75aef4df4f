import { PathAliases } from '../../../../store/embedded/duckdb/path-aliases.ts';
import { silentLogger } from '../../../../store/store-logger.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

/** To the files of a folder of segments. */
export function pathAliases(segmentsFolder: string): PathAliases {
  return new PathAliases({ segmentsFolder, linksFolder: temporaryFolder(), logger: silentLogger });
}
