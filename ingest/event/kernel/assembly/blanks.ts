import { SPACE } from './json-bytes';

/** The place of the first byte from `at` on that is no blank. Tabs and newlines, control characters, count as none: the kernel takes no event with one. */
export function skipBlanks(at: usize): usize {
  while (load<u8>(at) === SPACE) {
    at++;
  }
  return at;
}
