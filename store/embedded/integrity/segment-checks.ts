import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { ZoneSelection } from '../../../query/plan/search-plan.ts';
import { WorkerPool } from '../../../work/worker-pool.ts';
import { StoreError } from '../../store-error.ts';
import type { CheckedFile } from '../duckdb/path-aliases.ts';
import { isOutOfMemory } from '../duckdb/statement-runner.ts';
import type { Segment } from '../segment/segment.ts';
import { type Block, blocksOfZones, type FileRange, rangesOf, unpackBlocks } from '../segment/segment-blocks.ts';
import { type CheckResult, type CheckTask, type FileFaults, type FileToCheck, readFilesInTurn } from './changed-bytes.ts';

/** A segment of which this process has checked what a statement about some zones reads. */
export type CheckedSegment = Segment & CheckedFile;

/** Returns those of the segments that are whole where they can have events of the zones. */
export type CheckSegments = (segments: readonly Segment[], zones: ZoneSelection) => Promise<readonly CheckedSegment[]>;

export interface ReadingAttempt {
  readonly check: CheckSegments;
  /**
   * Whether an error that the attempt ended with may come of damage that came after the check, which shows as any error of DuckDB. What was
   * checked is then read again, and at least one segment or journal is contained, so that another attempt does without it.
   */
  readonly foundDamage: (error: unknown) => Promise<boolean>;
}

export interface SegmentChecksOptions {
  readonly segmentsFolder: string;
  /** Takes a segment that is not whole out of use. */
  readonly contain: (segment: Segment, fault: string) => void;
  /** Looks for damaged journals that are read as files, and contains them. Resolves with whether there was one. */
  readonly containJournals: () => Promise<boolean>;
}

/** What is known of the blocks of a segment. */
interface KnownBlocks {
  readonly blocks: readonly Block[];
  /** The indexes of the blocks to check. */
  readonly unchecked: Set<number>;
}

/** A thread gets at least as much at a time. What is left is checked on the calling thread, in 10 ms, less than a thread takes to start. */
const ORDER_BYTES = 32 * 1024 * 1024;

const MAX_THREADS = 4;

/** Part of a segment's file, with what it belongs to. */
interface SegmentToCheck extends FileToCheck {
  readonly segment: Segment;
  readonly indexes: readonly number[];
}

/**
 * Checks segments before they are read: each block once in the life of the process, because reading the bytes of every statement again
 * would take as long as the statement. A segment that is not whole is contained. Those that the process writes count as checked.
 */
export class SegmentChecks {
  readonly #options: SegmentChecksOptions;
  readonly #known = new WeakMap<Segment, KnownBlocks>();
  /** Threads for the checks that a search waits for. */
  readonly #threads: WorkerPool<readonly FileToCheck[], FileFaults>;
  /** A thread for the checks that nobody waits for. */
  readonly #slowThread: WorkerPool<CheckTask, CheckResult>;

  constructor(options: SegmentChecksOptions) {
    this.#options = options;
    const module = new URL('./changed-bytes.ts', import.meta.url);
    this.#threads = new WorkerPool({
      module,
      maxThreads: Math.min(MAX_THREADS, availableParallelism()),
      inline: { fits: isSmall, run: readFilesInTurn },
    });
    this.#slowThread = new WorkerPool({ module, yields: true });
  }

  /** Counts segments as checked, because their checksums are of what was just read. */
  trust(segments: readonly Segment[]): void {
    for (const segment of segments) {
      this.#known.set(segment, { blocks: unpackBlocks(segment.blocks), unchecked: new Set() });
    }
  }

  /**
   * Checks what a statement about the zones reads. Rejects with the signal's reason, and where a file cannot be read for a reason that is
   * not the file's own.
   */
  async check(segments: readonly Segment[], zones: ZoneSelection, signal?: AbortSignal): Promise<readonly CheckedSegment[]> {
    const files = segments.flatMap((segment) => this.#uncheckedOf(segment, zones));
    if (files.length === 0) {
      return segments as readonly CheckedSegment[];
    }
    return this.#withoutBad(segments, files, await this.#faultsOf(files, this.#threads, signal));
  }

  /** What is wrong with a file, on a thread that others go before; undefined where nothing is. */
  async faultOf(file: FileToCheck): Promise<string | undefined> {
    const [fault] = (await this.#slowThread.run([file])) as FileFaults;
    return fault;
  }

  /** What is wrong with a file of SQLite; undefined where nothing is. */
  async faultOfSqliteFile(sqliteFile: string): Promise<string | undefined> {
    const [fault] = (await this.#slowThread.run({ sqliteFile })) as FileFaults;
    return fault;
  }

  /** Checks all of a segment once more, on a thread that others go before. */
  async checkInBackground(segment: Segment): Promise<void> {
    const files = this.#blocksIn(segment, [...this.#knownOf(segment).blocks.keys()]);
    this.#withoutBad([segment], files, await this.#faultsOf(files, this.#slowThread));
  }

  /** The blocks of a segment that an earlier version wrote, packed. From here on it is checked by them. */
  async blocksOf(segment: Segment): Promise<Uint8Array> {
    const packed = (await this.#slowThread.run({ blocksOf: this.#pathOf(segment) })) as Uint8Array;
    this.#known.set(segment, { blocks: unpackBlocks(packed), unchecked: new Set() });
    return packed;
  }

  #withoutBad(segments: readonly Segment[], files: readonly SegmentToCheck[], faults: FileFaults): readonly CheckedSegment[] {
    const bad = new Set<Segment>();
    for (const [index, { segment, indexes }] of files.entries()) {
      const fault = faults[index];
      if (fault === undefined) {
        const { unchecked } = this.#knownOf(segment);
        for (const one of indexes) {
          unchecked.delete(one);
        }
      } else {
        bad.add(segment);
        this.#options.contain(segment, fault);
      }
    }
    return segments.filter((segment) => !bad.has(segment)) as CheckedSegment[];
  }

  /** Carries out work that reads what `check` returned; once more where it fails and a file turns out to be damaged. */
  async reading<T>(
    signal: AbortSignal | undefined,
    work: (check: CheckSegments) => Promise<T>,
    containJournals = this.#options.containJournals,
  ): Promise<T> {
    for (;;) {
      const attempt = this.attempt(signal, containJournals);
      try {
        return await work(attempt.check);
      } catch (error) {
        if (!(await attempt.foundDamage(error))) {
          throw error;
        }
      }
    }
  }

  /** Carries out work as {@link reading} does, for a load, during which no journal can be contained. */
  async readingInLoad<T>(work: (check: CheckSegments) => Promise<T>): Promise<T> {
    return await this.reading(undefined, work, async () => false);
  }

  /** An attempt to read segments, which `signal` ends. */
  attempt(signal: AbortSignal | undefined, containJournals = this.#options.containJournals): ReadingAttempt {
    const read: (readonly [segments: readonly Segment[], zones: ZoneSelection])[] = [];
    return {
      check: async (segments, zones) => {
        const whole = await this.check(segments, zones, signal);
        read.push([whole, zones]);
        return whole;
      },
      foundDamage: async (error) =>
        signal?.aborted !== true && mayBeDamage(error) && ((await this.#isOneDamaged(read)) || (await containJournals())),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#threads.close(), this.#slowThread.close()]);
  }

  async #isOneDamaged(read: readonly (readonly [segments: readonly Segment[], zones: ZoneSelection])[]): Promise<boolean> {
    let isOne = false;
    for (const [segments, zones] of read) {
      const files = segments.flatMap((segment) => this.#blocksIn(segment, blocksOfZones(this.#knownOf(segment).blocks, zones)));
      const whole = this.#withoutBad(segments, files, await this.#faultsOf(files, this.#threads));
      isOne ||= whole.length < segments.length;
    }
    return isOne;
  }

  #uncheckedOf(segment: Segment, zones: ZoneSelection): SegmentToCheck[] {
    const { blocks, unchecked } = this.#knownOf(segment);
    return unchecked.size === 0
      ? []
      : this.#blocksIn(
          segment,
          blocksOfZones(blocks, zones).filter((index) => unchecked.has(index)),
        );
  }

  #blocksIn(segment: Segment, indexes: readonly number[]): SegmentToCheck[] {
    if (indexes.length === 0) {
      return [];
    }
    const all = rangesOf(this.#knownOf(segment).blocks);
    const ranges = indexes.map((index) => all[index] as FileRange);
    return [{ segment, indexes, path: this.#pathOf(segment), bytes: segment.bytes, ranges }];
  }

  #pathOf({ file }: Segment): string {
    return join(this.#options.segmentsFolder, file);
  }

  /** Segments of earlier versions have no checksums until the scrub has read them. */
  #knownOf(segment: Segment): KnownBlocks {
    const known = this.#known.get(segment);
    if (known !== undefined) {
      return known;
    }
    const blocks = unpackBlocks(segment.blocks);
    const fresh: KnownBlocks = { blocks, unchecked: new Set(blocks.keys()) };
    this.#known.set(segment, fresh);
    return fresh;
  }

  async #faultsOf(
    files: readonly SegmentToCheck[],
    threads: { readonly run: (task: readonly FileToCheck[]) => Promise<CheckResult> },
    signal?: AbortSignal,
  ): Promise<FileFaults> {
    const tasks: FileToCheck[][] = [];
    let left = 0;
    for (const { path, bytes, ranges } of files) {
      if (left <= 0) {
        tasks.push([]);
        left = ORDER_BYTES;
      }
      tasks.at(-1)?.push({ path, bytes, ranges });
      left -= bytesOf(ranges);
    }
    const results = await Promise.all(
      tasks.map(async (task) => {
        signal?.throwIfAborted();
        return (await threads.run(task)) as FileFaults;
      }),
    );
    signal?.throwIfAborted();
    return results.flat();
  }
}

/** Whether damage can have been the cause of an error. */
function mayBeDamage(error: unknown): boolean {
  return error instanceof Error && !(error instanceof StoreError) && !isOutOfMemory(error);
}

function isSmall(task: readonly FileToCheck[]): boolean {
  return bytesOf(task.flatMap(({ ranges }) => ranges)) < ORDER_BYTES;
}

function bytesOf(ranges: readonly FileRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}
