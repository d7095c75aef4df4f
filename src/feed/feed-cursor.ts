import { crc32 } from 'node:zlib';

/** How far a reader of the feed has come. */
export interface FeedPosition {
  /** It has everything up to this one. */
  readonly sequence: bigint;
  /** So many runs of the retention it knows of: what those dropped it does not miss. */
  readonly afterRuns: number;
}

/** What a cursor is held against. */
export interface CursorStore {
  /** 32 bits that tell this store from others. */
  storeId(): number;
  lastSequence(): bigint;
  retentionRuns(): number;
}

/** Version (1 byte), store (4), sequence (8), runs (4), CRC-32 of these (4), in base64url: 28 characters. */
const VERSION = 1;
const CHECKED_BYTES = 17;
const CURSOR_FORM = /^[A-Za-z0-9_-]{28}$/;

export function cursorText({ sequence, afterRuns }: FeedPosition, store: Pick<CursorStore, 'storeId'>): string {
  const bytes = Buffer.alloc(CHECKED_BYTES + 4);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32BE(store.storeId(), 1);
  bytes.writeBigUInt64BE(sequence, 5);
  bytes.writeUInt32BE(afterRuns, 13);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return bytes.toString('base64url');
}

/** The position that a cursor stands for, or in words what is wrong with it. */
export function readCursor(text: string, store: CursorStore): FeedPosition | string {
  const bytes = Buffer.from(CURSOR_FORM.test(text) ? text : '', 'base64url');
  if (bytes.length !== CHECKED_BYTES + 4 || crc32(bytes.subarray(0, CHECKED_BYTES)) !== bytes.readUInt32BE(CHECKED_BYTES)) {
    return 'is not a cursor as the feed gives them: it was cut or changed';
  }
  if (bytes.readUInt8(0) !== VERSION) {
    return `is a cursor of version ${bytes.readUInt8(0)}; this program has version ${VERSION}`;
  }
  const position = { sequence: bytes.readBigUInt64BE(5), afterRuns: bytes.readUInt32BE(13) };
  if (bytes.readUInt32BE(1) !== store.storeId()) {
    return 'is a cursor of another store: it means nothing here';
  }
  // The same store, put back from a copy: what had this sequence is gone, and others will get it.
  if (position.sequence > store.lastSequence() || position.afterRuns > store.retentionRuns()) {
    return 'is ahead of this store, which must have lost events since';
  }
  return position;
}
