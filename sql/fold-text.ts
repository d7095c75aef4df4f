import { foldText } from '../query/match/match-event.ts';

const LAST_CODE_POINT = 0x10_ffff;

/** The halves of a pair, which are no letters. */
const isHalfOfPair = (codePoint: number): boolean => codePoint >= 0xd800 && codePoint <= 0xdfff;

/** A function of a ClickHouse server. */
interface ServerFunction {
  readonly name: string;
  /** What stands behind its name in the statement that makes it. */
  readonly definition: string;
}

let made: ServerFunction | undefined;

/**
 * The function of ClickHouse that folds texts as our own `foldText` does, code point by code point. A text of ASCII goes the faster way.
 * Functions belong to the whole server, and which letters have a lower case is known to Node: so the name has the CRC-32 of the definition,
 * and programs that fold otherwise do not meet in one function.
 */
export function foldTextFunction(): ServerFunction {
  // It takes a while, and most programs never need it.
  made ??= makeFunction();
  return made;
}

function makeFunction(): ServerFunction {
  const letters: string[] = [];
  const folded: string[] = [];
  for (let codePoint = 1; codePoint <= LAST_CODE_POINT; codePoint += 1) {
    const letter = isHalfOfPair(codePoint) ? '' : String.fromCodePoint(codePoint);
    const lower = foldText(letter);
    if (lower !== letter) {
      letters.push(letter);
      folded.push(lower);
    }
  }
  const beyondAscii = `translateUTF8(x, '${letters.join('')}', '${folded.join('')}')`;
  const definition = `(x) -> if(lengthUTF8(x) = length(x), lower(x), ${beyondAscii})`;
  return { name: `foldText_${crc32(definition)}`, definition };
}

/** The reversed polynomial of CRC-32. */
const POLYNOMIAL = 0xedb8_8320;

/** The CRC-32 of a text in UTF-8, in eight hex digits. This room imports nothing of Node, which has one, too. */
function crc32(text: string): string {
  let rest = ~0;
  for (const byte of new TextEncoder().encode(text)) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      rest = (rest >>> 1) ^ (rest & 1 ? POLYNOMIAL : 0);
    }
  }
  return (~rest >>> 0).toString(16).padStart(8, '0');
}
