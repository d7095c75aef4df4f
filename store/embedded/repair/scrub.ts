import { join } from 'node:path';
import { DAY_MS } from '../../../query/durations.ts';
import type { StoreLogger } from '../../event-store.ts';
import { checkBlobFile, contentOfBlobFile, faultOfBlobFile } from '../blob/blob-file-reader.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { Segment } from '../segment/segment.ts';
import type { VersionSet } from '../snapshot/version-set.ts';

export interface ScrubOptions {
  readonly segmentsFolder: string;
  readonly versions: Pick<VersionSet, 'segments' | 'blobFiles' | 'acquire'>;
  readonly checks: Pick<SegmentChecks, 'checkInBackground' | 'blocksOf'>;
  readonly catalog: Pick<Catalog, 'addBlocks' | 'noteBlobFile'>;
  /** Milliseconds by a clock that nobody sets. */
  readonly elapsedMs: () => number;
  readonly logger: StoreLogger;
}

/** A call reads no further file once it has read so much: with a call every 5 s, 200 MiB a second at most. */
const BYTES_AT_ONCE = 1024 ** 3;

type StoredFile = Segment | BlobFile;

/**
 * Reads every segment and blob file once a day, a file at a time, because a disk can change what nobody reads. Searches need not check what
 * it has read, so after a start it begins with the newest files. Files of earlier versions get their checksums here. Files that this
 * process wrote were read when they were written.
 */
export class Scrub {
  readonly #options: ScrubOptions;
  readonly #dueMs = new WeakMap<StoredFile, number>();
  readonly #withBlocks = new WeakSet<StoredFile>();
  readonly #faults = new Map<BlobFile, string>();

  constructor(options: ScrubOptions) {
    this.#options = options;
    for (const file of this.#files) {
      this.#dueMs.set(file, Number.NEGATIVE_INFINITY);
    }
    for (const blobFile of options.versions.blobFiles) {
      if (blobFile.damage !== undefined) {
        this.#faults.set(blobFile, blobFile.damage);
      }
    }
  }

  /** The blob files that have damaged logs, with what is wrong. */
  get damagedBlobFiles(): ReadonlyMap<BlobFile, string> {
    return this.#faults;
  }

  /** Reads files that are due, none after `isStopped`. */
  async readNext(isStopped: () => boolean): Promise<void> {
    const { versions, elapsedMs } = this.#options;
    this.#noteFaults();
    const now = elapsedMs();
    let bytes = 0;
    for (const file of this.#files) {
      const dueMs = this.#dueMs.get(file) ?? now + DAY_MS;
      this.#dueMs.set(file, dueMs);
      if (dueMs <= now && bytes < BYTES_AT_ONCE && !isStopped() && this.#isLive(file)) {
        bytes += file.bytes;
        this.#dueMs.set(file, now + DAY_MS);
        using _held = versions.acquire([file]);
        await ('zoneRows' in file ? this.#readSegment(file) : this.#readBlobFile(file));
      }
    }
  }

  get #files(): StoredFile[] {
    const { segments, blobFiles } = this.#options.versions;
    return [...segments.toSorted((a, b) => b.maxTimestamp - a.maxTimestamp), ...blobFiles];
  }

  #isLive(file: StoredFile): boolean {
    const { segments, blobFiles } = this.#options.versions;
    return 'zoneRows' in file ? segments.includes(file) : blobFiles.includes(file);
  }

  async #readSegment(segment: Segment): Promise<void> {
    const { checks, catalog } = this.#options;
    if (segment.blocks !== undefined || this.#withBlocks.has(segment)) {
      await checks.checkInBackground(segment);
    } else {
      catalog.addBlocks(segment, await checks.blocksOf(segment));
      this.#withBlocks.add(segment);
    }
  }

  async #readBlobFile(blobFile: BlobFile): Promise<void> {
    const { segmentsFolder, catalog } = this.#options;
    const path = join(segmentsFolder, blobFile.file);
    const fault = await checkBlobFile(path, blobFile);
    if (fault !== undefined) {
      this.#noteFault(blobFile, fault);
    } else if (blobFile.indexCrc32 === undefined || this.#faults.delete(blobFile)) {
      const { indexCrc32 } = await contentOfBlobFile(path);
      catalog.noteBlobFile(blobFile, { indexCrc32, damage: undefined });
    }
  }

  /** Notes the damaged logs that searches have come upon since the last call, and forgets blob files that are gone. */
  #noteFaults(): void {
    const live = new Set(this.#options.versions.blobFiles);
    for (const gone of [...this.#faults.keys()].filter((blobFile) => !live.has(blobFile))) {
      this.#faults.delete(gone);
    }
    for (const blobFile of this.#options.versions.blobFiles) {
      const fault = faultOfBlobFile(blobFile);
      if (fault !== undefined) {
        this.#noteFault(blobFile, fault);
      }
    }
  }

  #noteFault(blobFile: BlobFile, fault: string): void {
    const { logger, catalog } = this.#options;
    if (!this.#faults.has(blobFile)) {
      this.#faults.set(blobFile, fault);
      logger.error({ blobFile: blobFile.file, fault }, 'logs of a blob file are damaged or missing: they are answered as {}');
      catalog.noteBlobFile(blobFile, { damage: fault });
    }
  }
}
