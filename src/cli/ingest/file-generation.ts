import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { behindNuls, NEWLINE, newlinesIn } from '../../../query/json-bytes.ts';
import { type LineBatch, MAX_LINE_BATCH_BYTES, wholeLines } from './line-batch.ts';

/** How far a file that had or has the followed name was sent, as the state keeps it. */
export interface GenerationState {
  /** Device and inode, in decimal digits: together they are one file of the machine, whatever its name. */
  readonly device: string;
  readonly inode: string;
  /** Where the first line begins that was not sent, in bytes. */
  readonly offset: number;
  /** The lines before it. */
  readonly lines: number;
  /** The SHA-256 of the first `headBytes` bytes, by which a file is told from a later one with the same inode. */
  readonly headBytes: number;
  readonly headHash: string;
}

const HEAD_BYTES = 256;
const SCAN_BYTES = 1024 * 1024;
/** So much of a hole, or of a line that does not end, is looked through at a time: other files and a stop wait meanwhile. */
const SCAN_AT_ONCE_BYTES = 256 * 1024 * 1024;

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const NO_HEAD = { headBytes: 0, headHash: hashOf(new Uint8Array()) };

interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/**
 * Opens a regular file for reading; null for anything else. Without O_NONBLOCK, a FIFO that took the name since somebody looked would keep
 * a thread waiting for a writer, for ever, also at a stop.
 */
async function openRegular(path: string): Promise<OpenFile | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat({ bigint: true });
  if (stats.isFile()) return { handle, stats };
  await handle.close();
  return null;
}

/** One of the files that have the followed name one after the other. It stays open, whatever becomes of the name. */
export class FileGeneration {
  readonly device: string;
  readonly inode: string;
  readonly #handle: FileHandle;
  #offset: number;
  #lines: number;
  #head: Pick<GenerationState, 'headBytes' | 'headHash'>;
  /** The time of the last change that was looked at, and the size then. */
  #seen = '';
  #size = 0;
  /** What was seen when there was no whole line behind the offset. */
  #drained: string | null = null;
  /** Where the search for the end of a very long line goes on. */
  #scanned = 0;
  /** Where the search for the end of a hole goes on. */
  #passed = 0;
  /** When another file took the name, in Unix ms; null while this one has it. */
  replacedAtMs: number | null = null;

  private constructor(handle: FileHandle, state: GenerationState) {
    this.#handle = handle;
    ({ device: this.device, inode: this.inode, offset: this.#offset, lines: this.#lines } = state);
    this.#head = { headBytes: state.headBytes, headHash: state.headHash };
  }

  /** Opens a file at its beginning; null where the path is none, such as a FIFO. */
  static async open(path: string): Promise<FileGeneration | null> {
    const opened = await openRegular(path);
    if (opened === null) return null;
    const {
      handle,
      stats: { dev, ino },
    } = opened;
    const generation = new FileGeneration(handle, { device: String(dev), inode: String(ino), offset: 0, lines: 0, ...NO_HEAD });
    await generation.#lookAtHead();
    return generation;
  }

  /** Opens a file where a state says; null where the file is another one or none, or was cut or written anew. */
  static async openAt(path: string, state: GenerationState): Promise<FileGeneration | null> {
    const opened = await openRegular(path);
    if (opened === null) return null;
    const {
      handle,
      stats: { dev, ino, size },
    } = opened;
    const generation = new FileGeneration(handle, state);
    const isSame = String(dev) === state.device && String(ino) === state.inode && size >= state.offset;
    if (isSame && (await generation.#hasSameHead())) return generation;
    await handle.close();
    return null;
  }

  get state(): GenerationState {
    return { device: this.device, inode: this.inode, offset: this.#offset, lines: this.#lines, ...this.#head };
  }

  isFile(device: bigint, inode: bigint): boolean {
    return this.device === String(device) && this.inode === String(inode);
  }

  /** The first bytes of the file. */
  async beginning(): Promise<Buffer> {
    return this.#read(0, HEAD_BYTES);
  }

  /**
   * Looks whether the file was cut or written anew, after which it is read from its beginning, and says so. A file whose time and size are
   * those of the last look is not looked at.
   */
  async wasWrittenAnew(): Promise<boolean> {
    const { size, mtimeNs } = await this.#handle.stat({ bigint: true });
    const seen = `${mtimeNs} ${size}`;
    if (seen === this.#seen) return false;
    // A file that was made long before it is written may have got lines where NULs were.
    if (this.#size === Number(size)) this.#passed = 0;
    [this.#seen, this.#size] = [seen, Number(size)];
    if (size >= this.#offset && (await this.#hasSameHead())) return false;
    [this.#offset, this.#lines, this.#scanned, this.#passed] = [0, 0, 0, 0];
    await this.#lookAtHead();
    return true;
  }

  /** Whether a part of what was seen is not looked through yet, so that the next lines may be behind it. */
  get isLooking(): boolean {
    return this.#drained !== this.#seen && this.#size > this.#offset;
  }

  /**
   * The next whole lines of what was seen at the last look; null where there are none yet, or none was found in some hundred megabytes.
   * With `isLast` what stands behind the last line end is a line, too.
   */
  async nextBatch(isLast = false): Promise<LineBatch | null> {
    if (this.#drained === this.#seen && !isLast) return null;
    if (!(await this.#passNuls())) return null;
    const [offset, linesBefore] = [this.#offset, this.#lines];
    const bytes = await this.#read(offset, Math.min(MAX_LINE_BATCH_BYTES, Math.max(0, this.#size - offset)));
    const found = wholeLines(bytes);
    if (found.length > 0) return this.#batch(found, offset + found.length, newlinesIn(found));
    if (bytes.length === MAX_LINE_BATCH_BYTES) {
      const end = await this.#endOfLongLine();
      if (end === 'not found yet') return null;
      if (end !== null) return { bytes: this.#range(offset, end), linesBefore, end, lines: 1 };
    } else if (isLast && bytes.length > 0) {
      return this.#batch(bytes, offset + bytes.length, 1);
    }
    this.#drained = this.#seen;
    return null;
  }

  #batch(bytes: Buffer, end: number, lines: number): LineBatch {
    return { bytes: [bytes], linesBefore: this.#lines, end, lines };
  }

  /** Notes that a batch was accepted. */
  async accepted({ end, lines }: LineBatch): Promise<void> {
    this.#offset = end;
    this.#lines += lines;
    this.#scanned = 0;
    if (this.#head.headBytes < HEAD_BYTES) await this.#lookAtHead();
  }

  /** The bytes behind the last whole line, as far as the file has them now. */
  async unsentBytes(): Promise<number> {
    return Math.max(0, (await this.#handle.stat()).size - this.#offset);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #read(offset: number, maxBytes: number): Promise<Buffer> {
    const buffer = Buffer.alloc(maxBytes);
    let length = 0;
    while (length < maxBytes) {
      const { bytesRead } = await this.#handle.read(buffer, length, maxBytes - length, offset + length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  }

  /**
   * Passes NULs behind the offset, if anything comes after them: a hole, and no file that was made so long before it is written. They may
   * be far more than a batch. Resolves with false where more of them have to be looked at.
   */
  async #passNuls(): Promise<boolean> {
    const from = Math.max(this.#passed, this.#offset);
    let at = from;
    while (at - from < SCAN_AT_ONCE_BYTES) {
      const bytes = await this.#read(at, at === this.#offset ? 1 : SCAN_BYTES);
      const nuls = behindNuls(bytes);
      at += nuls;
      if (nuls < bytes.length) this.#offset = at;
      if (nuls < bytes.length || nuls === 0) {
        this.#passed = 0;
        return true;
      }
    }
    this.#passed = at;
    return false;
  }

  async #lookAtHead(): Promise<void> {
    const head = await this.beginning();
    this.#head = { headBytes: head.length, headHash: hashOf(head) };
  }

  async #hasSameHead(): Promise<boolean> {
    const head = await this.#read(0, this.#head.headBytes);
    return head.length === this.#head.headBytes && hashOf(head) === this.#head.headHash;
  }

  /** The offset behind a line that is longer than a batch; null while it has no end. What was searched before is not searched again. */
  async #endOfLongLine(): Promise<number | 'not found yet' | null> {
    const from = Math.max(this.#scanned, this.#offset);
    for (let at = from; at - from < SCAN_AT_ONCE_BYTES; ) {
      const bytes = await this.#read(at, SCAN_BYTES);
      const newline = bytes.indexOf(NEWLINE);
      if (newline >= 0) return at + newline + 1;
      at += bytes.length;
      this.#scanned = at;
      if (bytes.length < SCAN_BYTES) return null;
    }
    return 'not found yet';
  }

  /** A part of the file, which is never held as a whole. */
  async *#range(from: number, to: number): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; ) {
      const bytes = await this.#read(at, Math.min(SCAN_BYTES, to - at));
      if (bytes.length === 0) throw new Error('the file was cut while it was read');
      yield bytes;
      at += bytes.length;
    }
  }
}
