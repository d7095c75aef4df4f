/** The offsets that a partition holds: `earliest` is the first one kept, `next` the one that the next message will get. */
export interface OffsetRange {
  readonly earliest: bigint;
  readonly next: bigint;
}

export type StartOffset =
  /** Where the store left off. */
  | { readonly kind: 'stored'; readonly offset: bigint }
  /** Nothing of the partition was ever stored. */
  | { readonly kind: 'new'; readonly offset: bigint }
  /** The messages after the stored offset are gone (retention overtook the store): `offset` is the earliest that is left. */
  | { readonly kind: 'overtaken'; readonly offset: bigint }
  /** The stored offset is past the end: the topic was made anew, or the broker lost its newest messages. */
  | { readonly kind: 'pastEnd'; readonly offset: bigint };

/** Where to read a partition from. An offset that the topic does not have leads to the earliest, never to the latest. */
export function startOffset(stored: bigint | undefined, range: OffsetRange): StartOffset {
  if (stored === undefined) {
    return { kind: 'new', offset: range.earliest };
  }
  if (stored < range.earliest) {
    return { kind: 'overtaken', offset: range.earliest };
  }
  return stored > range.next ? { kind: 'pastEnd', offset: range.earliest } : { kind: 'stored', offset: stored };
}
