import { join } from 'node:path';
import { type OpenStore, openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { type CanonicalEvent, canonicalBatch } from '../fixtures/canonical-batch.ts';
import { NOW } from '../fixtures/present.ts';
import { NO_BACKGROUND_JOBS_MS, RETENTION_MS } from '../fixtures/temporary-store.ts';
import { Recording } from './recording.ts';
import { type AcknowledgedEvent, type Batch, OFFSET, type Truth, whatIsFound } from './truth.ts';

const HOUR = 3_600_000;

const NOTHING_SENT: Truth = { nowMs: NOW, acknowledged: new Map(), underWay: [], mayBeGone: new Set(), offset: undefined };

/** One step in the life of a data folder. */
export type Step =
  /** `twins` of the events are stored already. A batch with an offset comes from Kafka. */
  | { readonly kind: 'append'; readonly count: number; readonly twins?: number; readonly hasOffset?: boolean }
  /** Two batches that are under way at the same time. */
  | { readonly kind: 'append two'; readonly count: number }
  /** An event whose log is so large that its file is kept for later journals. */
  | { readonly kind: 'append large' }
  /** The last events again, as after a producer's retry. */
  | { readonly kind: 'repeat'; readonly count: number; readonly hasOffset?: boolean }
  /** A batch that is refused, because its operation of this number fails, and that nobody sends again. */
  | { readonly kind: 'refuse'; readonly at: number }
  | { readonly kind: 'flush' }
  | { readonly kind: 'merge' }
  /** Time goes by, and what is too old goes. */
  | { readonly kind: 'retention'; readonly hours: number }
  | { readonly kind: 'restart' };

/** Where DATA_DIR is in a recording. Like the folder above it, the store makes it. */
export const DATA_DIR = join('parent', 'data');

/** The life that a crash ended. */
export interface LifeBefore {
  readonly truth: Truth;
  readonly sent: number;
  /** The paths that its process had not synced, which a power loss after it may take. */
  readonly unsynced: readonly string[];
}

/** The life of a data folder, each operation of which is recorded, with what is true of it in between. */
export class History {
  readonly recording: Recording;
  /** What holds from this number of operations on. */
  readonly truths: { readonly from: number; readonly truth: Truth }[] = [];
  #store: OpenStore | undefined;
  /** Counts the events up, and the offsets in Kafka. */
  #sent: number;
  #nowMs: number;

  private constructor(root: string, { truth, sent, unsynced }: LifeBefore) {
    this.recording = new Recording(root, join(root, DATA_DIR), unsynced);
    this.#nowMs = truth.nowMs;
    this.#sent = sent;
    this.#hold(truth);
  }

  /** Takes the steps in a folder that is empty, or that is what a crash has left of another life, whose truth it then has. */
  static async begin(root: string, steps: readonly Step[] = [], left?: LifeBefore): Promise<History> {
    const history = new History(root, left ?? { truth: NOTHING_SENT, sent: 0, unsynced: [] });
    try {
      await history.open();
      if (left !== undefined) await history.#settle();
      for (const step of steps) await history.take(step);
      return history;
    } catch (error) {
      await history.end();
      throw error;
    }
  }

  get sent(): number {
    return this.#sent;
  }

  get store(): OpenStore {
    if (this.#store === undefined) throw new Error('the store of this history is closed');
    return this.#store;
  }

  get truth(): Truth {
    return this.truths.at(-1)?.truth ?? NOTHING_SENT;
  }

  async open(): Promise<void> {
    this.#store ??= await openStoreAt(this.recording.dataDir, () => this.#nowMs);
  }

  async end(): Promise<void> {
    await this.#store?.close();
    this.#store = undefined;
    this.recording.end();
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'append':
        return await this.append([
          { events: [...this.#newEvents(step.count), ...this.#lastEvents(step.twins ?? 0)], offset: this.#nextOffset(step.hasOffset) },
        ]);
      case 'append two':
        return await this.append([1, 2].map(() => ({ events: this.#newEvents(step.count), offset: this.#nextOffset(true) })));
      case 'append large': {
        const [event] = this.#newEvents(1) as [CanonicalEvent];
        const long = `${event.logId} `.repeat(1_200_000 / (event.logId.length + 1));
        return await this.append([{ events: [{ ...event, log: { long } }], offset: undefined }]);
      }
      case 'repeat':
        return await this.append([{ events: this.#lastEvents(step.count), offset: this.#nextOffset(step.hasOffset) }]);
      case 'refuse':
        return await this.#refuse(step.at);
      case 'flush':
        return await this.store.flushNow();
      case 'merge':
        return await this.store.compactNow();
      case 'retention':
        this.#nowMs += step.hours * HOUR;
        this.#hold({ ...this.truth, nowMs: this.#nowMs, mayBeGone: this.#expired() });
        await this.store.dropExpiredNow();
        // Where that flushes nothing, it waits for the removal of the files.
        if ((await this.store.stats()).unflushedEvents === 0) await this.store.flushNow();
        return await this.#settle();
      case 'restart':
        await this.store.close();
        this.#store = undefined;
        await this.open();
        return await this.#settle();
    }
  }

  /** Sends batches at the same time. */
  async append(batches: readonly Batch[]): Promise<void> {
    this.#hold({ ...this.truth, underWay: batches });
    await Promise.all(
      batches.map(async (batch) => {
        const { events, offset } = batch;
        const sourceOffsets = offset === undefined ? [] : [{ ...OFFSET, nextOffset: offset }];
        const { firstSequence } = await this.store.append(canonicalBatch(events, { sourceOffsets }));
        const { acknowledged, underWay } = this.truth;
        const added = new Map<string, AcknowledgedEvent>(acknowledged);
        for (const [index, event] of events.entries()) {
          if (!added.has(event.logId)) added.set(event.logId, { event, sequence: firstSequence + BigInt(index) });
        }
        const left = underWay.filter((one) => one !== batch);
        this.#hold({ ...this.truth, acknowledged: added, underWay: left, offset: offset ?? this.truth.offset });
      }),
    );
  }

  /** What fails in the store and is tried again. */
  async reasonsNotReady(): Promise<readonly string[]> {
    return (await this.#store?.reasonsNotReady()) ?? [];
  }

  /** Resolves once the store takes events in again, after it has refused what was under way, which nobody may find from then on. */
  async refused(): Promise<void> {
    while ((await this.reasonsNotReady()).length > 0);
    this.#hold({ ...this.truth, underWay: [] });
  }

  async #refuse(at: number): Promise<void> {
    const refused = { events: this.#newEvents(2), offset: undefined };
    this.#hold({ ...this.truth, underWay: [refused] });
    this.recording.failAt({ at, code: 'EIO' });
    const outcome = await Promise.allSettled([this.store.append(canonicalBatch(refused.events))]);
    if (!this.recording.endFault() || outcome[0].status !== 'rejected') {
      throw new Error(`a batch was to be refused by its operation ${at}, and was not`);
    }
    await this.refused();
  }

  #newEvents(count: number): CanonicalEvent[] {
    return Array.from({ length: count }, () => {
      this.#sent += 1;
      const logId = `event-${this.#sent}`;
      // Over the hours of an old time partition, so that flushes leave segments that are merged.
      const timestamp = this.#nowMs - 12 * HOUR + ((this.#sent * 7) % 40) * 60_000;
      return { logId, shieldZoneId: 7 + (this.#sent % 2), timestamp, host: `host-${this.#sent % 3}.example`, log: { of: logId } };
    });
  }

  #lastEvents(count: number): CanonicalEvent[] {
    return [...this.truth.acknowledged.values()].slice(this.truth.acknowledged.size - count).map(({ event }) => event);
  }

  #nextOffset(has = false): bigint | undefined {
    this.#sent += 1;
    return has ? BigInt(this.#sent) : undefined;
  }

  #expired(): Set<string> {
    const expired = [...this.truth.acknowledged].filter(([, { event }]) => event.timestamp < this.#nowMs - RETENTION_MS);
    return new Set(expired.map(([logId]) => logId));
  }

  /** Learns what may be there or not: what is not there may not come back, and what is there may not go. */
  async #settle(): Promise<void> {
    const { feed, offset } = await whatIsFound(this.store);
    const sequences = new Map(feed.map(({ logId, sequence }) => [logId, sequence]));
    const { acknowledged, mayBeGone, underWay } = this.truth;
    const kept = new Map([...acknowledged].filter(([logId]) => !mayBeGone.has(logId) || sequences.has(logId)));
    for (const event of underWay.flatMap(({ events }) => events)) {
      const sequence = sequences.get(event.logId);
      if (sequence !== undefined) kept.set(event.logId, { event, sequence });
    }
    this.#hold({ ...this.truth, acknowledged: kept, underWay: [], offset: underWay.length > 0 ? offset : this.truth.offset });
  }

  #hold(truth: Truth): void {
    this.truths.push({ from: this.recording.operations.length, truth });
  }
}

export function openStoreAt(dataDir: string, now: () => number): Promise<OpenStore> {
  return openEmbeddedStore(
    { dataDir, memoryLimitMb: 256, retentionMs: RETENTION_MS, now },
    { backgroundJobsEveryMs: NO_BACKGROUND_JOBS_MS, failureHoldMs: 0 },
  );
}
