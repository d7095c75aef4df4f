import { RequestProblem } from '../http/problem.ts';

/** Reads that run at the same time. More would only share the same cores. */
export const SEATS = 4;
/** Further reads that run beside them, all of them light. */
export const LIGHT_SEATS = 2;
/** Reads of one flow that may wait, and the bytes of the conditions that they hold. */
export const MAX_WAITING_READS = 64;
export const MAX_WAITING_BYTES = 2 * 1024 * 1024;

/** A refusal is told after so long, because who asks again at once would otherwise be refused thousands of times a second. */
const REFUSED_AFTER_MS = 1_000;
/** So many refusals of all flows are held back, with so many bytes of conditions in all. The next ones are told at once. */
const MAX_HELD_REFUSALS = 256;

/** A flow is alone once no other has read for so long. */
const ALONE_AFTER_MS = 1_000;
/** Events are taken in while the last of them became visible no longer ago. */
const INTAKE_PAUSE_MS = 1_000;
/** A flow owes so much rest for each millisecond that it has worked. */
const REST_PER_WORK = 2;
/** A flow that owes no more does not rest yet, so that who looks at a page now and then never waits for it. */
const REST_OWED_MS = 2_000;
/** The longest rest. After a search of half a minute the next ones of its caller would otherwise wait past their deadlines. */
const LONGEST_REST_MS = 10_000;
/** So many reads that go on after their interrupt, of all flows and of one, have given their seats to others. Further ones keep theirs. */
export const MAX_LEFT_OVER = 4;
const MAX_LEFT_OVER_OF_FLOW = 1;

/** Tells the time in milliseconds since any fixed one, and wakes the queue. */
export interface QueueClock {
  now(): number;
  /** Calls `act` after so many milliseconds, unless the function that it returns is called before. */
  wakeAfter(ms: number, act: () => void): () => void;
}

const PROCESS_CLOCK: QueueClock = {
  now: () => performance.now(),
  wakeAfter: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

/** A read that waits for its turn. */
export interface QueuedRead {
  /** Who asks: reads of one flow compete with each other before they compete with those of others. */
  readonly flow: string;
  /** Whether it is estimated to take little time. */
  readonly isLight: boolean;
  /** Bytes that it holds while it waits. */
  readonly bytes: number;
  /** Whether it may be refused where many wait. Those whose number something else bounds are not. */
  readonly isRefusable: boolean;
  /** Takes it out of the queue, and ends it. */
  readonly signal: AbortSignal;
}

interface Waiting extends Pick<QueuedRead, 'isLight' | 'bytes'> {
  begin(seat: Seat): void;
}

/** What a read has taken of the seats; `isGivenBack` once others may have it. */
interface Seat {
  readonly kind: 'usual' | 'light';
  readonly beganMs: number;
  isGivenBack: boolean;
  isLeftOver: boolean;
}

interface Flow {
  readonly waiting: Waiting[];
  waitingBytes: number;
  readonly taken: Record<Seat['kind'], number>;
  /** Its reads that go on after their interrupt. */
  leftOver: number;
  /** How long its reads have worked in all. It does not fall behind that of other flows while it reads nothing. */
  workedMs: number;
  /** When it owes no more rest. */
  restedAtMs: number;
  /** When it last waited or read. */
  activeMs: number;
}

/**
 * Says which read begins next, by what the flows have used so far: the one that has worked least goes first, and its reads go in the order
 * in which they came. A flow that is alone takes all seats. One that is not has one usual seat and one light seat at a time.
 *
 * While events are taken in, a flow that has worked for more than a second lately begins no read that is not light until it has rested
 * twice as long as it worked. Such a flow gets no light seat either, because its reads take longer than was estimated.
 */
export class FairQueue {
  readonly #clock: QueueClock;
  readonly #flows = new Map<string, Flow>();
  readonly #free: Record<Seat['kind'], number> = { usual: SEATS, light: LIGHT_SEATS };
  #leftOver = 0;
  readonly #held = { refusals: 0, bytes: 0 };
  #intakeMs = Number.NEGATIVE_INFINITY;
  #cancelWaking: (() => void) | undefined;

  constructor(clock: QueueClock = PROCESS_CLOCK) {
    this.#clock = clock;
  }

  /** Reads that wait. */
  get waiting(): number {
    return [...this.#flows.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** Reads that have a seat. */
  get reading(): number {
    return SEATS + LIGHT_SEATS - this.#free.usual - this.#free.light;
  }

  /** Reads that go on after their interrupt, because DuckDB looks at one between blocks of rows only. */
  get leftOver(): number {
    return this.#leftOver;
  }

  /** Notes that events have become visible. */
  noteIntake(): void {
    this.#intakeMs = this.#clock.now();
  }

  /**
   * Runs `work` when it is its turn, and settles as it does; where the signal aborts, it rejects with the signal's reason at once, and the
   * work, which takes the same signal, is charged to its flow until it ends. Throws RequestProblem `caller.busy`, after a second, where too
   * many reads of the flow wait.
   */
  async run<T>(read: QueuedRead, work: () => Promise<T>): Promise<T> {
    const { signal } = read;
    signal.throwIfAborted();
    const flow = this.#flowOf(read.flow);
    const seat = await this.#seatFor(flow, read);
    if (signal.aborted) {
      this.#end(flow, seat);
      throw signal.reason;
    }
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const leave = (): void => {
      this.#leave(flow, seat);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([aborted, work().finally(() => this.#end(flow, seat))]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Waits for a seat, in the queue of the flow. */
  async #seatFor(flow: Flow, { isLight, bytes, isRefusable, signal }: QueuedRead): Promise<Seat> {
    const isFull = flow.waiting.length >= MAX_WAITING_READS || (flow.waiting.length > 0 && flow.waitingBytes + bytes > MAX_WAITING_BYTES);
    if (isFull && isRefusable) {
      await this.#holdRefusal(bytes, signal);
      const detail = `${MAX_WAITING_READS} requests of this caller are waiting already; ask for fewer at a time`;
      throw new RequestProblem('caller.busy', detail, { headers: { 'retry-after': '1' } });
    }
    const { promise, resolve, reject } = Promise.withResolvers<Seat>();
    const waiting: Waiting = { isLight, bytes, begin: resolve };
    const giveUp = (): void => {
      if (takeOut(flow, waiting)) reject(signal.reason);
    };
    if (!isActive(flow)) this.#admit(flow);
    flow.activeMs = this.#clock.now();
    flow.waiting.push(waiting);
    flow.waitingBytes += bytes;
    signal.addEventListener('abort', giveUp, { once: true });
    this.#beginNext();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Waits before a refusal is told. Rejects with the signal's reason. */
  async #holdRefusal(bytes: number, signal: AbortSignal): Promise<void> {
    const held = this.#held;
    if (held.refusals >= MAX_HELD_REFUSALS || held.bytes + bytes > MAX_WAITING_BYTES) return;
    held.refusals += 1;
    held.bytes += bytes;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.wakeAfter(REFUSED_AFTER_MS, resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    cancel();
    held.refusals -= 1;
    held.bytes -= bytes;
    signal.throwIfAborted();
  }

  #flowOf(name: string): Flow {
    let flow = this.#flows.get(name);
    if (flow === undefined) {
      const never = Number.NEGATIVE_INFINITY;
      const taken = { usual: 0, light: 0 };
      flow = { waiting: [], waitingBytes: 0, taken, leftOver: 0, workedMs: 0, restedAtMs: never, activeMs: never };
      this.#flows.set(name, flow);
    }
    return flow;
  }

  /** A flow that has read nothing for a while comes in beside the others: it has saved nothing up. */
  #admit(flow: Flow): void {
    const least = Math.min(...[...this.#flows.values()].filter(isActive).map(({ workedMs }) => workedMs));
    flow.workedMs = Math.max(flow.workedMs, Number.isFinite(least) ? least : 0);
  }

  #leave(flow: Flow, seat: Seat): void {
    seat.isLeftOver = true;
    flow.leftOver += 1;
    this.#leftOver += 1;
    if (this.#leftOver <= MAX_LEFT_OVER && flow.leftOver <= MAX_LEFT_OVER_OF_FLOW) this.#giveBack(flow, seat);
  }

  #end(flow: Flow, seat: Seat): void {
    const now = this.#clock.now();
    const worked = now - seat.beganMs;
    flow.workedMs += worked;
    const owed = Math.max(flow.restedAtMs, now) + REST_PER_WORK * worked;
    flow.restedAtMs = Math.min(owed, now + REST_OWED_MS + LONGEST_REST_MS);
    flow.activeMs = now;
    if (seat.isLeftOver) {
      flow.leftOver -= 1;
      this.#leftOver -= 1;
    }
    this.#giveBack(flow, seat);
  }

  #giveBack(flow: Flow, seat: Seat): void {
    if (seat.isGivenBack) return;
    seat.isGivenBack = true;
    flow.taken[seat.kind] -= 1;
    this.#free[seat.kind] += 1;
    this.#beginNext();
  }

  /** Begins what can begin, and sees to it that the queue is looked at again when time alone lets more begin. */
  #beginNext(): void {
    this.#cancelWaking?.();
    this.#cancelWaking = undefined;
    const now = this.#clock.now();
    this.#forgetIdle(now);
    while (this.#beginOne(now));
    const hasWaiting = [...this.#flows.values()].some(({ waiting }) => waiting.length > 0);
    const wakeMs = hasWaiting ? this.#nextChangeMs(now) : Number.POSITIVE_INFINITY;
    if (wakeMs < Number.POSITIVE_INFINITY) this.#cancelWaking = this.#clock.wakeAfter(wakeMs - now, () => this.#beginNext());
  }

  #beginOne(now: number): boolean {
    const waiting = [...this.#flows.values()].filter((flow) => flow.waiting.length > 0).sort((a, b) => a.workedMs - b.workedMs);
    for (const flow of waiting) {
      const [light, other] = [true, false].map((isLight) => this.#seatKindFor(flow, isLight, now));
      const next = flow.waiting.find(({ isLight }) => (isLight ? light : other) !== undefined);
      const kind = next?.isLight === true ? light : other;
      if (next !== undefined && kind !== undefined) {
        takeOut(flow, next);
        flow.taken[kind] += 1;
        this.#free[kind] -= 1;
        next.begin({ kind, beganMs: now, isGivenBack: false, isLeftOver: false });
        return true;
      }
    }
    return false;
  }

  /** The kind of seat that a read of the flow may take now. */
  #seatKindFor(flow: Flow, isLight: boolean, now: number): Seat['kind'] | undefined {
    const isAlone = this.#isAlone(flow, now);
    const mayTake = (kind: Seat['kind']): boolean => this.#free[kind] > 0 && (isAlone || flow.taken[kind] === 0);
    const rests = now < restsUntilMs(flow);
    if (isLight && !rests && mayTake('light')) return 'light';
    const isHeldBack = rests && !isLight && now < this.#intakeMs + INTAKE_PAUSE_MS;
    return !isHeldBack && mayTake('usual') ? 'usual' : undefined;
  }

  #isAlone(flow: Flow, now: number): boolean {
    return [...this.#flows.values()].every((other) => other === flow || (!isActive(other) && now >= other.activeMs + ALONE_AFTER_MS));
  }

  /** The next time at which a flow has rested or is alone, or intake is over. */
  #nextChangeMs(now: number): number {
    const flows = [...this.#flows.values()];
    const times = [
      this.#intakeMs + INTAKE_PAUSE_MS,
      ...flows.filter(({ waiting }) => waiting.length > 0).map(restsUntilMs),
      ...flows.filter((flow) => !isActive(flow)).map(({ activeMs }) => activeMs + ALONE_AFTER_MS),
    ];
    return Math.min(...times.filter((time) => time > now));
  }

  #forgetIdle(now: number): void {
    for (const [name, flow] of this.#flows) {
      const isOver = !isActive(flow) && flow.leftOver === 0;
      if (isOver && now >= flow.activeMs + ALONE_AFTER_MS && now >= flow.restedAtMs) this.#flows.delete(name);
    }
  }
}

/** Whether reads of the flow wait or have a seat. */
function isActive({ waiting, taken }: Flow): boolean {
  return waiting.length + taken.usual + taken.light > 0;
}

function restsUntilMs({ restedAtMs }: Flow): number {
  return restedAtMs - REST_OWED_MS;
}

/** Returns false where the read no longer waits. */
function takeOut(flow: Flow, waiting: Waiting): boolean {
  const index = flow.waiting.indexOf(waiting);
  if (index < 0) return false;
  flow.waiting.splice(index, 1);
  flow.waitingBytes -= waiting.bytes;
  return true;
}
