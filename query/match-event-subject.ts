import type { TextField } from './event-fields.ts';
import { foldText } from './match-event-fold.ts';
import { parseAddress } from './parse-address.ts';

/** The values that an event has, an empty text included. */
export type EventTexts = Readonly<Partial<Record<TextField, string>>>;

/** An event that predicates are tried on. What several of them ask for is worked out once. */
export interface MatchSubject {
  /** Undefined where the event has no such value. */
  text(column: TextField): string | undefined;
  /** The same in lower case. */
  folded(column: TextField): string | undefined;
  /** The `ip` as a number of 128 bits; null where it is missing or no address. */
  address(): bigint | null;
  /** What matching has cost so far: characters that were looked through, or as much work in other ways. */
  work: number;
}

export function matchSubject(texts: EventTexts): MatchSubject {
  const foldedTexts = new Map<TextField, string | undefined>();
  let address: bigint | null | undefined;
  return {
    work: 0,
    text: (column) => texts[column],
    folded(column) {
      let folded = foldedTexts.get(column);
      if (folded === undefined) {
        const text = texts[column];
        folded = text === undefined ? undefined : foldText(text);
        foldedTexts.set(column, folded);
      }
      return folded;
    },
    address() {
      if (address === undefined) address = texts.ip === undefined ? null : parseAddress(texts.ip);
      return address;
    },
  };
}
