import { SPACE, TAB } from './json-bytes';

/** The place of the first byte from `at` on that is no blank. A raw newline counts as none: the kernel does not take it. */
export function skipBlanks(at: usize): usize {
  return load<u8>(at) > SPACE ? at : skipMoreBlanks(at);
}

function skipMoreBlanks(at: usize): usize {
  while (true) {
    const byte: u32 = load<u8>(at);
    if (byte !== SPACE && byte !== TAB) {
      return at;
    }
    at++;
  }
}
