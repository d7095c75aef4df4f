import type { FastifyRequest } from 'fastify';
import type { InputMemory, InputPart } from '../../ingest/event/partial-event.ts';
import { RequestProblem } from './problem.ts';

/** What all bodies and their decoders may hold until their end comes, and those of doors until they are answered, in bytes. */
export const BODY_MEMORY_BYTES = 128 * 1024 * 1024;
/** So much of each body, or of the event and the rejections of an upload, is not counted: usual ones never meet the limit. */
export const FREE_BODY_BYTES = 16 * 1024;

/** So long a body that is taken whole waits for room in the memory, and records of a request for a thread, in milliseconds. */
export const ROOM_MS = 5_000;

/** The rest of the body may still come, and must not be taken for the next request. */
const BUSY = { headers: { 'retry-after': '5', connection: 'close' } };

export interface BodyMemoryOptions {
  readonly capacityBytes: number;
  /** How long a client may keep a request waiting for its whole body, for a counted event or, in uploads, for the next bytes, in ms. */
  readonly deadlineMs: number;
  /** Whose a request is: where there is no room, callers give way to those that hold less. */
  readonly callerOf: (request: FastifyRequest) => string;
}

/** What the bodies of one caller hold, but for those that are kept. */
interface Share {
  bytes: number;
  /** Those that hold anything, the newest last. */
  readonly bodies: Set<HeldBody>;
}

/**
 * Limits the memory of bodies, unfinished events and decoders whose end has not come, of all callers together. Where there is no room, the
 * newest body of the caller that holds most is ended, if that is more than who needs room would hold with it; else that one is refused.
 */
export class BodyMemory {
  readonly deadlineMs: number;
  readonly #capacityBytes: number;
  readonly #callerOf: BodyMemoryOptions['callerOf'];
  readonly #shares = new Map<string, Share>();
  #takenBytes = 0;
  #released = Promise.withResolvers<void>();

  constructor({ capacityBytes, deadlineMs, callerOf }: BodyMemoryOptions) {
    this.#capacityBytes = capacityBytes;
    this.deadlineMs = deadlineMs;
    this.#callerOf = callerOf;
  }

  /** Begins a body, which holds nothing yet. */
  open(request: FastifyRequest): HeldBody {
    return new HeldBody(this, this.#callerOf(request));
  }

  /** Throws RequestProblem `store.busy` where a body that needs so many bytes would be refused. */
  requireRoom(request: FastifyRequest, bytes: number): void {
    const caller = this.#callerOf(request);
    if (!this.#hasRoom(bytes) && this.#givingWay(caller, bytes) === null) throw refused();
  }

  /** Counts what a body holds from now on. To be called by the body alone. Throws RequestProblem `store.busy`, and counts as before. */
  count(body: HeldBody, beforeBytes: number, bytes: number): void {
    const moreBytes = bytes - beforeBytes;
    while (moreBytes > 0 && !this.#hasRoom(moreBytes)) {
      const largest = this.#givingWay(body.caller, moreBytes);
      if (largest === null) throw refused();
      [...largest.bodies].at(-1)?.end();
    }
    this.#takenBytes += moreBytes;
    if (!body.isKept) this.#share(body, moreBytes, bytes > 0);
    if (moreBytes < 0) this.#release();
  }

  /** What the body holds is taken from its caller's share, so that nobody else can have it. To be called by the body alone. */
  keep(body: HeldBody, bytes: number): void {
    this.#share(body, -bytes, false);
  }

  /** Resolves once something was given back, or after so many milliseconds. */
  async nextRelease(ms: number): Promise<void> {
    const timer = setTimeout(() => this.#release(), ms);
    await this.#released.promise;
    clearTimeout(timer);
  }

  #release(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  #share(body: HeldBody, moreBytes: number, holdsAny: boolean): void {
    const share = this.#shares.get(body.caller) ?? { bytes: 0, bodies: new Set() };
    share.bytes += moreBytes;
    if (holdsAny) share.bodies.add(body);
    else share.bodies.delete(body);
    if (share.bodies.size > 0) this.#shares.set(body.caller, share);
    else this.#shares.delete(body.caller);
  }

  #hasRoom(bytes: number): boolean {
    return this.#takenBytes + bytes <= this.#capacityBytes;
  }

  /** The largest share that is another caller's, and larger than the caller's own would be; null where there is none. */
  #givingWay(caller: string, moreBytes: number): Share | null {
    let [largest, mostBytes]: [Share | null, number] = [null, (this.#shares.get(caller)?.bytes ?? 0) + moreBytes];
    for (const [other, share] of this.#shares) {
      if (other !== caller && share.bytes > mostBytes) [largest, mostBytes] = [share, share.bytes];
    }
    return largest;
  }
}

function refused(): RequestProblem {
  return new RequestProblem('store.busy', 'Too many bytes of requests wait for the rest of their bodies; try again later', BUSY);
}

/** In bytes. */
type Parts = Readonly<Record<InputPart, number>>;

const NOTHING: Parts = { body: 0, records: 0, rejections: 0, decoder: 0 };

/** What one body holds until its end comes. All of it is given back when it is disposed. */
export class HeldBody implements InputMemory, Disposable {
  readonly caller: string;
  readonly #memory: BodyMemory;
  #parts: Parts = NOTHING;
  #countedBytes = 0;
  #eventSinceMs: number | null = null;
  #roomUntilMs: number | null = null;
  #isKept = false;
  #ended: RequestProblem | null = null;
  #onEnd: (problem: RequestProblem) => void = () => undefined;

  constructor(memory: BodyMemory, caller: string) {
    this.#memory = memory;
    this.caller = caller;
  }

  /** Throws RequestProblem `store.busy`, and counts as before then. */
  hold(part: InputPart, bytes: number): void {
    this.#count({ ...this.#parts, [part]: bytes });
    if (part === 'body') this.#eventSinceMs = bytes > FREE_BODY_BYTES ? (this.#eventSinceMs ?? performance.now()) : null;
  }

  /** Whether nobody else can have its memory. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** The body has come whole, and is held until it is stored: it gives way to nobody any more. */
  keep(): void {
    if (this.#ended !== null) throw this.#ended;
    this.#memory.keep(this, this.#countedBytes);
    this.#isKept = true;
  }

  /** Has `hold` count what there is room for within ROOM_MS of the first time that there was none. Throws as `hold` does. */
  async whenRoom(hold: () => void): Promise<void> {
    for (;;) {
      try {
        hold();
        return;
      } catch (error) {
        this.#roomUntilMs ??= performance.now() + ROOM_MS;
        const leftMs = this.#roomUntilMs - performance.now();
        if (this.#ended !== null || leftMs <= 0) throw error;
        await this.#memory.nextRelease(leftMs);
      }
    }
  }

  /** How long the counted event may still wait for its end, in milliseconds; without bound where there is none. */
  eventMsLeft(): number {
    if (this.#eventSinceMs === null) return Number.POSITIVE_INFINITY;
    return this.#eventSinceMs + this.#memory.deadlineMs - performance.now();
  }

  /** The body was not read for so long, for which its client cannot be blamed. */
  wasPaused(ms: number): void {
    if (this.#eventSinceMs !== null) this.#eventSinceMs = Math.min(performance.now(), this.#eventSinceMs + ms);
  }

  /** Calls `onEnd` when the body is ended in favour of another, at once where it has been. Only the last `onEnd` is called. */
  whenEnded(onEnd: (problem: RequestProblem) => void): void {
    this.#onEnd = onEnd;
    if (this.#ended !== null) onEnd(this.#ended);
  }

  /** Gives the memory to another caller. Who reads the body learns it where it waits, or at its next byte. */
  end(): void {
    this[Symbol.dispose]();
    this.#ended = new RequestProblem('store.busy', 'The memory of this body was needed for another caller; send it again later', BUSY);
    this.#onEnd(this.#ended);
  }

  [Symbol.dispose](): void {
    this.#count(NOTHING);
    this.#eventSinceMs = null;
  }

  #count(parts: Parts): void {
    const bytes = Math.max(0, parts.body + parts.records + parts.rejections - FREE_BODY_BYTES) + parts.decoder;
    if (this.#ended !== null && bytes > 0) throw this.#ended;
    if (bytes !== this.#countedBytes) this.#memory.count(this, this.#countedBytes, bytes);
    [this.#parts, this.#countedBytes] = [parts, bytes];
  }
}
