import { crc32 } from 'node:zlib';
import { CursorAhead, type FeedPoint, type FeedPosition, type FeedPositions, type FeedRequest } from '../../event-store.ts';
import type { Epoch, EpochTable } from '../catalog/epoch-table.ts';
import type { ExpiredWatermarks } from '../catalog/expired-watermarks.ts';
import { firstSequenceFrom, type TimedParts } from '../snapshot/ingest-times.ts';
import type { VersionSet } from '../snapshot/version-set.ts';

/** The content of a position of this store. */
interface ReadUpTo {
  /** The reader has all events up to this one. */
  readonly sequence: bigint;
  /** The reader misses nothing that the first so many sweeps of the retention removed. */
  readonly afterSweeps: number;
}

/**
 * A cursor in base64url, 28 characters: version (1 byte), epoch (4), folder (2), sequence (6), runs (4), and the CRC-32 of these (4). The
 * folder is the lower half of the store's number, by which an epoch that only another copy of its folder had is told from another store.
 * Earlier programs wrote 0 there, and the store's number as the epoch, which is that of the first one.
 */
const VERSION = 1;
const EPOCH_AT = 1;
const FOLDER_AT = 5;
const SEQUENCE_AT = 7;
const SEQUENCE_BYTES = 6;
const SWEEPS_AT = 13;
const CHECKED_BYTES = 17;
const CURSOR_FORM = /^[A-Za-z0-9_-]{28}$/;

/** A position of an embedded store. */
export function feedPosition(sequence: bigint, afterSweeps = 0): FeedPosition {
  return { sequence, afterSweeps } satisfies ReadUpTo as unknown as FeedPosition;
}

/** The sequence of an event, or the highest one that a reader at a position has. */
export function sequenceOf(point: FeedPoint): bigint {
  return (point as { readonly sequence: bigint }).sequence;
}

/** Throws RangeError for a sequence of more than 48 bits, which no store reaches. Without a store it is a cursor as of earlier programs. */
export function cursorText(position: FeedPosition, epoch: number, storeId = 0): string {
  const { sequence, afterSweeps } = readUpTo(position);
  const bytes = Buffer.alloc(CHECKED_BYTES + 4);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32BE(epoch, EPOCH_AT);
  bytes.writeUInt16BE(folderOf(storeId), FOLDER_AT);
  bytes.writeUIntBE(Number(sequence), SEQUENCE_AT, SEQUENCE_BYTES);
  bytes.writeUInt32BE(afterSweeps, SWEEPS_AT);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return bytes.toString('base64url');
}

function folderOf(storeId: number): number {
  return storeId & 0xffff;
}

export interface EmbeddedPositionsOptions {
  /** 32 bits that tell this store, with all copies of its folder, from others. */
  readonly storeId: number;
  readonly epochs: Pick<EpochTable, 'list'>;
  readonly versions: Pick<VersionSet, 'endSequence'> & TimedParts;
  readonly expiredWatermarks: Pick<ExpiredWatermarks, 'sweeps' | 'sequence'>;
}

/** The positions of an embedded store: a sequence, and how many sweeps of the retention the reader knows of. */
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
    return this.compare(position, to) < 0 ? feedPosition(sequenceOf(to), readUpTo(position).afterSweeps) : position;
  }

  encode(position: FeedPosition): string {
    const { storeId, epochs } = this.#options;
    return cursorText(position, epochs.list().at(-1)?.epoch ?? storeId, storeId);
  }

  async decode(text: string): Promise<FeedPosition | CursorAhead | string> {
    const bytes = Buffer.from(CURSOR_FORM.test(text) ? text : '', 'base64url');
    if (bytes.length !== CHECKED_BYTES + 4 || crc32(bytes.subarray(0, CHECKED_BYTES)) !== bytes.readUInt32BE(CHECKED_BYTES)) {
      return 'is not a cursor as the feed gives them: it was cut or changed';
    }
    if (bytes.readUInt8(0) !== VERSION) {
      return `is a cursor of version ${bytes.readUInt8(0)}; this program has version ${VERSION}`;
    }
    const { storeId, epochs } = this.#options;
    const epoch = bytes.readUInt32BE(EPOCH_AT);
    const index = epochs.list().findLastIndex((one) => one.epoch === epoch);
    if (index === -1) {
      const isOfACopy = bytes.readUInt16BE(FOLDER_AT) === folderOf(storeId) || epoch === storeId;
      const foreign = 'is a cursor of another store: it means nothing here';
      return isOfACopy ? new CursorAhead(await this.oldest(), { isEndKnown: false }) : foreign;
    }
    const given = { sequence: BigInt(bytes.readUIntBE(SEQUENCE_AT, SEQUENCE_BYTES)), afterSweeps: bytes.readUInt32BE(SWEEPS_AT) };
    return this.#withinEpoch(given, epochs.list()[index + 1]);
  }

  /**
   * The position of a reader in an epoch. `next` is the one after it, unset for the last. What a reader knows of later events or sweeps is
   * of another copy of the folder: their numbers mean others here.
   */
  #withinEpoch({ sequence, afterSweeps }: ReadUpTo, next: Epoch | undefined): FeedPosition | CursorAhead {
    const end = next === undefined ? this.#lastSequence : next.firstSequence - 1n;
    const knownSweeps = Math.min(afterSweeps, next?.sweeps ?? this.#options.expiredWatermarks.sweeps);
    const isAhead = sequence > end || (next === undefined && afterSweeps > knownSweeps);
    const position = feedPosition(sequence > end ? end : sequence, knownSweeps);
    return isAhead ? new CursorAhead(position, { isEndKnown: true }) : position;
  }

  async oldest(): Promise<FeedPosition> {
    return feedPosition(0n, this.#options.expiredWatermarks.sweeps);
  }

  async newest(): Promise<FeedPosition> {
    return feedPosition(this.#lastSequence, this.#options.expiredWatermarks.sweeps);
  }

  async at(timeMs: number): Promise<FeedPosition> {
    const { versions, expiredWatermarks } = this.#options;
    const [newest, sweeps] = [this.#lastSequence, expiredWatermarks.sweeps];
    const { growingSegments, blobFiles } = versions;
    const first = await firstSequenceFrom({ growingSegments, blobFiles }, timeMs);
    return feedPosition(first === undefined ? newest : first - 1n, sweeps);
  }

  async afterExpiry(zones: FeedRequest['zones'], position: FeedPosition): Promise<FeedPosition | undefined> {
    const { expiredWatermarks } = this.#options;
    const { sequence, afterSweeps } = readUpTo(position);
    return expiredWatermarks.sequence(zones, afterSweeps) > sequence ? feedPosition(sequence, expiredWatermarks.sweeps) : undefined;
  }

  get #lastSequence(): bigint {
    return this.#options.versions.endSequence - 1n;
  }
}

function readUpTo(position: FeedPosition): ReadUpTo {
  return position as unknown as ReadUpTo;
}
