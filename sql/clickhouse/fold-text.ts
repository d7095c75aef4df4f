import { foldText } from '../../query/match/match-event.ts';
import { FOLD_TEXT } from '../dialect.ts';
import { type Cluster, onCluster } from './cluster.ts';

const LAST_CODE_POINT = 0x10_ffff;

/** The halves of a pair, which are no letters. */
const isHalfOfPair = (codePoint: number): boolean => codePoint >= 0xd800 && codePoint <= 0xdfff;

/**
 * The statement that makes the function {@link FOLD_TEXT} from our own `foldText`, code point by code point. A text of ASCII goes the
 * faster way.
 */
export function foldTextFunction(cluster: Cluster | null = null): string {
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
  return `CREATE OR REPLACE FUNCTION ${FOLD_TEXT}${onCluster(cluster)} AS (x) -> if(lengthUTF8(x) = length(x), lower(x), ${beyondAscii})`;
}
