import { ReadLinks } from '../../store/read-links.ts';
import { silentLogger } from '../../store/store-logger.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';

/** To the files of a folder of segments. */
export function readLinks(segmentsFolder: string): ReadLinks {
  return new ReadLinks({ segmentsFolder, linksFolder: temporaryFolder(), logger: silentLogger });
}
