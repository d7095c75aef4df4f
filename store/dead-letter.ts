/** A message that cannot become an event, kept so that people can look at it and replay it. */
export interface DeadLetter {
  /** The whole message, or its start. */
  readonly bytes: Uint8Array;
  /** The length and the SHA-256 of the whole message; null where `bytes` is all of it. */
  readonly cut: { readonly sizeBytes: number; readonly sha256: Uint8Array } | null;
  /** Whether the message is a batch of messages that cannot be decoded, so that nothing can be replayed. */
  readonly isBatch?: boolean;
  /** Names the field that is wrong, its value and what is allowed. */
  readonly reason: string;
  /** Where the message came from: `kafka`, `http` or `file`. */
  readonly source: string;
  /** The mapping by which the message was to become an event; null or absent where it was to be one as it is. */
  readonly mapping?: string | null;
  readonly topic: string | null;
  readonly partition: number | null;
  readonly offset: bigint | null;
  /** Which of several events of a Kafka message this is, from 0; absent where it is a whole message, or comes from elsewhere. */
  readonly index?: number | null;
  /** The zone that its event would have; null where none can be read. */
  readonly zoneId: number | null;
}

/** Bytes that a dead letter takes in memory beside its message and its reason. */
const LETTER_BYTES = 300;

/** Bytes of memory that a dead letter takes on its way to the disk. */
export function memoryOfLetter({ bytes, reason }: Pick<DeadLetter, 'bytes' | 'reason'>): number {
  return bytes.byteLength + reason.length + LETTER_BYTES;
}

export interface StoredDeadLetter extends Omit<DeadLetter, 'cut' | 'isBatch' | 'mapping' | 'index'> {
  /** It orders the letters of a store. Nothing else may be read from it. */
  readonly id: string;
  readonly mapping: string | null;
  readonly index: number | null;
  readonly receivedAtMs: number;
  /** The length of the whole message. */
  readonly sizeBytes: number;
  /** The SHA-256 of the whole message in hexadecimal digits. */
  readonly sha256: string;
  /** Whether `bytes` is a whole message; only then can it be replayed. */
  readonly isWhole: boolean;
}

/** Selects dead letters, by ascending id. */
export interface DeadLetterSelection {
  /** Letters of these zones; `all` also selects letters without a zone. */
  readonly zones: readonly number[] | 'all';
  /** Only letters with these ids; absent: with any. */
  readonly ids?: readonly string[];
  /** Only letters with a higher id. */
  readonly afterId?: string;
  readonly limit: number;
}

/** What the ids of a store's dead letters look like. */
export interface DeadLetterIds {
  /** Says for people which ids there may be. */
  readonly allowed: string;
  /** The id that a caller names by a text or by a whole number; null where no letter can have it. */
  parse(named: string | bigint): string | null;
}
