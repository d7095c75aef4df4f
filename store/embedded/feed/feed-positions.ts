import { crc32 } from 'node:zlib';
import type { FeedPoint, FeedPosition, FeedPositions, FeedRequest } from '../../event-store.ts';
import type { ExpiredWatermarks } from '../catalog/expired-watermarks.ts';
import type { VersionSet } from '../snapshot/version-set.ts';

/** The content of a position of this store. */
interface ReadUpTo {
  /** The reader has all events up to this one. */
  readonly sequence: bigint;
  /** The reader misses nothing that the first so many runs of the retention removed. */
  readonly afterRuns: number;
}

/** A cursor in base64url, 28 characters: version (1 byte), store (4), sequence (8), runs (4), and the CRC-32 of these (4). */
const VERSION = 1;
const CHECKED_BYTES = 17;
const CURSOR_FORM = /^[A-Za-z0-9_-]{28}$/;

/** A position of an embedded store. */
export function feedPosition(sequence: bigint, afterRuns = 0): FeedPosition {
  return { sequence, afterRuns } satisfies ReadUpTo as unknown as FeedPosition;
}

/** The sequence of an event, or the highest one that a reader at a position has. */
export function sequenceOf(point: FeedPoint): bigint {
  return (point as { readonly sequence: bigint }).sequence;
}

export function cursorText(position: FeedPosition, storeId: number): string {
  const { sequence, afterRuns } = readUpTo(position);
  const bytes = Buffer.alloc(CHECKED_BYTES + 4);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32BE(storeId, 1);
  bytes.writeBigUInt64BE(sequence, 5);
  bytes.writeUInt32BE(afterRuns, 13);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return bytes.toString('base64url');
}

export interface EmbeddedPositionsOptions {
  /** 32 bits that tell this store from others. */
  readonly storeId: number;
  readonly versions: Pick<VersionSet, 'endSequence'>;
  readonly expiredWatermarks: Pick<ExpiredWatermarks, 'runs' | 'sequence'>;
}

/** The positions of an embedded store: a sequence, and how many runs of the retention the reader knows of. */
export class EmbeddedPositions implements FeedPositions {
  readonly #options: EmbeddedPositionsOptions;

  constructor(options: EmbeddedPositionsOptions) {
    this.#options = options;
  }

  compare(one: FeedPoint, other: FeedPoint): number {
    const [left, right] = [sequenceOf(one), sequenceOf(other)];
    return left < right ? -1 : Number(left > right);
  }

  advance(position: FeedPosition, to: FeedPoint): FeedPosition {
    return this.compare(position, to) < 0 ? feedPosition(sequenceOf(to), readUpTo(position).afterRuns) : position;
  }

  encode(position: FeedPosition): string {
    return cursorText(position, this.#options.storeId);
  }

  async decode(text: string): Promise<FeedPosition | string> {
    const bytes = Buffer.from(CURSOR_FORM.test(text) ? text : '', 'base64url');
    if (bytes.length !== CHECKED_BYTES + 4 || crc32(bytes.subarray(0, CHECKED_BYTES)) !== bytes.readUInt32BE(CHECKED_BYTES)) {
      return 'is not a cursor as the feed gives them: it was cut or changed';
    }
    if (bytes.readUInt8(0) !== VERSION) {
      return `is a cursor of version ${bytes.readUInt8(0)}; this program has version ${VERSION}`;
    }
    if (bytes.readUInt32BE(1) !== this.#options.storeId) {
      return 'is a cursor of another store: it means nothing here';
    }
    const [sequence, afterRuns] = [bytes.readBigUInt64BE(5), bytes.readUInt32BE(13)];
    // The store was restored from a copy: the event of this sequence is gone, and another one will get its number.
    if (sequence > this.#lastSequence || afterRuns > this.#options.expiredWatermarks.runs) {
      return 'is ahead of this store, which must have lost events since';
    }
    return feedPosition(sequence, afterRuns);
  }

  async oldest(): Promise<FeedPosition> {
    return feedPosition(0n, this.#options.expiredWatermarks.runs);
  }

  async newest(): Promise<FeedPosition> {
    return feedPosition(this.#lastSequence, this.#options.expiredWatermarks.runs);
  }

  async afterExpiry(zones: FeedRequest['zones'], position: FeedPosition): Promise<FeedPosition | undefined> {
    const { expiredWatermarks } = this.#options;
    const { sequence, afterRuns } = readUpTo(position);
    return expiredWatermarks.sequence(zones, afterRuns) > sequence ? feedPosition(sequence, expiredWatermarks.runs) : undefined;
  }

  get #lastSequence(): bigint {
    return this.#options.versions.endSequence - 1n;
  }
}

function readUpTo(position: FeedPosition): ReadUpTo {
  return position as unknown as ReadUpTo;
}
