import { statSync } from 'node:fs';
import { LARGEST_MAPPING_BYTES, tooLargeYaml } from './yaml-tree.ts';

/**
 * What is wrong with a file of a folder before it is read; null where nothing is. A start would wait for a pipe that nobody writes to, and
 * read a device, or a file of gigabytes, until its memory is full. Throws the system's error for a file that is not there.
 */
export function yamlFileFault(path: string): string | null {
  const stats = statSync(path);
  if (!stats.isFile()) return 'cannot be read: it is a folder, a pipe or a device; allowed: a file';
  return stats.size > LARGEST_MAPPING_BYTES ? tooLargeYaml(stats.size) : null;
}
