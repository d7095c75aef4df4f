import { describe, expect, test } from 'vitest';
import { FairQueue, LIGHT_SEATS, MAX_WAITING_READS, type QueueClock, type QueuedRead, SEATS } from '../../../src/scheduling/fair-queue.ts';

/** A clock that stands still until the test moves it. */
class ManualClock implements QueueClock {
  #ms = 0;
  readonly #alarms = new Set<{ readonly atMs: number; readonly act: () => void }>();

  now(): number {
    return this.#ms;
  }

  wakeAfter(ms: number, act: () => void): () => void {
    const alarm = { atMs: this.#ms + ms, act };
    this.#alarms.add(alarm);
    return () => {
      this.#alarms.delete(alarm);
    };
  }

  async pass(ms: number): Promise<void> {
    const endMs = this.#ms + ms;
    for (;;) {
      const [next] = [...this.#alarms].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#ms = next.atMs;
      this.#alarms.delete(next);
      next.act();
      await settled();
    }
    this.#ms = endMs;
  }
}

/** Lets what has been resolved run on. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** A queue with a clock of its own; its reads run until the test ends them. */
class Scene {
  readonly clock = new ManualClock();
  readonly queue = new FairQueue(this.clock);
  /** The names of the reads that have begun and have not ended, in the order in which they began. */
  readonly running: string[] = [];
  /** What became of the others, as their callers see it. */
  readonly outcomes = new Map<string, unknown>();
  readonly #ends = new Map<string, () => void>();
  readonly #controllers = new Map<string, AbortController>();

  /** A read whose name begins with its flow: `a1` is of flow `a`. */
  async ask(name: string, read: Partial<QueuedRead> = {}): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const controller = new AbortController();
    this.#ends.set(name, resolve);
    this.#controllers.set(name, controller);
    const work = async (): Promise<string> => {
      this.running.push(name);
      await promise;
      this.running.splice(this.running.indexOf(name), 1);
      return 'answered';
    };
    const { signal } = controller;
    const asked = { flow: name.slice(0, 1), isLight: false, bytes: 0, isRefusable: true, signal, ...read };
    this.queue.run(asked, work).then(
      (outcome) => this.outcomes.set(name, outcome),
      (error: unknown) => this.outcomes.set(name, (error as { errorKey?: string }).errorKey ?? error),
    );
    await settled();
  }

  async askAll(names: string, read: Partial<QueuedRead> = {}): Promise<void> {
    for (const name of names.split(' ')) await this.ask(name, read);
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await settled();
  }

  async hangUp(name: string): Promise<void> {
    this.#controllers.get(name)?.abort('hung up');
    await settled();
  }

  /** Lets time pass while events are taken in twice a second. */
  async passWithIntake(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 500) {
      this.queue.noteIntake();
      await this.clock.pass(500);
    }
    this.queue.noteIntake();
  }

  /** Lets the running reads of all flows work for so long, and ends the oldest one. */
  async workOn(ms: number): Promise<void> {
    await this.clock.pass(ms);
    await this.end(this.running[0] ?? '');
  }
}

const LIGHT = { isLight: true };

describe('seats', () => {
  test('a flow that is alone takes all of them, its light reads the light ones', async () => {
    const scene = new Scene();
    await scene.askAll('a1 a2 a3 a4 a5');
    expect(scene.running).toEqual(['a1', 'a2', 'a3', 'a4']);
    await scene.askAll('a6 a7 a8', LIGHT);
    expect(scene.running).toEqual(['a1', 'a2', 'a3', 'a4', 'a6', 'a7']);
    expect([scene.queue.reading, scene.queue.waiting]).toEqual([SEATS + LIGHT_SEATS, 2]);
  });

  test('a light read of another flow begins at once, although all usual seats are taken', async () => {
    const scene = new Scene();
    await scene.askAll('a1 a2 a3 a4 a5 a6');
    await scene.ask('b1', LIGHT);
    expect(scene.running).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  test('a flow that is not alone has one usual and one light seat, until the others have read nothing for a second', async () => {
    const scene = new Scene();
    await scene.ask('b1');
    await scene.askAll('a1 a2 a3');
    await scene.askAll('a4 a5', LIGHT);
    expect(scene.running).toEqual(['b1', 'a1', 'a4']);
    await scene.end('b1');
    expect(scene.running).toEqual(['a1', 'a4']);
    await scene.clock.pass(999);
    expect(scene.running).toEqual(['a1', 'a4']);
    await scene.clock.pass(1);
    expect(scene.running).toEqual(['a1', 'a4', 'a2', 'a3', 'a5']);
  });

  test('where seats are few, the flow that has worked least comes next, and its reads in their order', async () => {
    const scene = new Scene();
    await scene.askAll('a1 b1 c1 d1 e1 f1 a2 b2 b3 c2');
    expect(scene.running).toEqual(['a1', 'b1', 'c1', 'd1']);
    await scene.clock.pass(10);
    await scene.end('b1');
    await scene.clock.pass(90);
    await scene.end('a1');
    expect(scene.running).toEqual(['c1', 'd1', 'e1', 'f1']);
    await scene.end('c1');
    // b has worked 10 ms, a and c 100.
    expect(scene.running).toEqual(['d1', 'e1', 'f1', 'b2']);
  });

  test('who has read nothing for long has saved nothing up', async () => {
    const scene = new Scene();
    await scene.askAll('a1 b1 c1 d1');
    await scene.clock.pass(1_000);
    for (const name of ['a1', 'b1', 'c1']) {
      await scene.end(name);
      await scene.ask(`${name.slice(0, 1)}2`);
    }
    // e comes in where d is, which has worked least, and d goes first the next time.
    await scene.askAll('e1 d2');
    await scene.end('d1');
    expect(scene.running).toEqual(['a2', 'b2', 'c2', 'e1']);
    await scene.end('a2');
    expect(scene.running).toEqual(['b2', 'c2', 'e1', 'd2']);
  });
});

describe('waiting', () => {
  test(`up to ${MAX_WAITING_READS} reads of a flow wait, and those of others are not counted`, async () => {
    const scene = new Scene();
    for (let index = 0; index < SEATS + MAX_WAITING_READS; index += 1) await scene.ask(`a${index}`);
    await scene.ask('a-more');
    await scene.ask('a-bounded', { isRefusable: false });
    await scene.ask('b1', LIGHT);
    expect(scene.outcomes).toEqual(new Map());
    await scene.clock.pass(1_000);
    expect(scene.outcomes).toEqual(new Map([['a-more', 'caller.busy']]));
    expect(scene.running).toContain('b1');
    expect(scene.queue.waiting).toBe(MAX_WAITING_READS + 1);
  });

  test('reads whose conditions are long are refused earlier, but one of any length may wait', async () => {
    const scene = new Scene();
    const long = { bytes: 1_500_000 };
    await scene.askAll('a1 a2 a3 a4');
    await scene.askAll('a5 a6', long);
    await scene.clock.pass(1_000);
    expect(scene.outcomes).toEqual(new Map([['a6', 'caller.busy']]));
    await scene.end('a1');
    await scene.ask('a7', { bytes: 9_000_000 });
    expect(scene.outcomes.has('a7')).toBe(false);
  });

  test('a refusal is told after a second, unless many are held back already, or with long conditions', async () => {
    const scene = new Scene();
    for (let index = 0; index < SEATS + MAX_WAITING_READS; index += 1) await scene.ask(`a${index}`);
    for (let index = 0; index < 256; index += 1) await scene.ask(`a-held${index}`);
    await scene.clock.pass(999);
    expect(scene.outcomes.size).toBe(0);
    await scene.ask('a-at-once');
    expect(scene.outcomes).toEqual(new Map([['a-at-once', 'caller.busy']]));
    await scene.clock.pass(1);
    expect(scene.outcomes.size).toBe(257);
    await scene.ask('a-long', { bytes: 1_500_000 });
    await scene.ask('a-longer', { bytes: 1_500_000 });
    expect([scene.outcomes.get('a-long'), scene.outcomes.get('a-longer')]).toEqual([undefined, 'caller.busy']);
    await scene.hangUp('a-long');
    expect(scene.outcomes.get('a-long')).toBe('hung up');
  });

  test('who hangs up leaves the queue at once', async () => {
    const scene = new Scene();
    await scene.askAll('a1 a2 a3 a4 a5 a6');
    await scene.hangUp('a5');
    expect(scene.outcomes).toEqual(new Map([['a5', 'hung up']]));
    await scene.end('a1');
    expect(scene.running).toEqual(['a2', 'a3', 'a4', 'a6']);
  });

  test('who has hung up before does not come in', async () => {
    const scene = new Scene();
    await scene.ask('a1', { signal: AbortSignal.abort('gone') });
    expect([scene.outcomes.get('a1'), scene.running, scene.queue.reading]).toEqual(['gone', [], 0]);
  });

  test('work that fails gives its seat back, and its error to the caller', async () => {
    const { queue } = new Scene();
    const read = { flow: 'a', isLight: false, bytes: 0, isRefusable: true, signal: new AbortController().signal };
    await expect(queue.run(read, () => Promise.reject(new Error('no such file')))).rejects.toThrow('no such file');
    expect(queue.reading).toBe(0);
  });
});

describe('rest', () => {
  test('while events are taken in, a flow that has worked for more than a second rests twice as long as it worked', async () => {
    const scene = new Scene();
    scene.queue.noteIntake();
    await scene.askAll('a1 a2 a3 a4 a5');
    await scene.passWithIntake(3_000);
    await scene.end('a1');
    // It owes 6 s, and rests until it owes 2.
    expect(scene.running).toEqual(['a2', 'a3', 'a4']);
    await scene.passWithIntake(3_500);
    expect(scene.running).not.toContain('a5');
    await scene.passWithIntake(500);
    expect(scene.running).toContain('a5');
  });

  test('one that has worked less goes on, and a light read does not wait for the rest of its flow', async () => {
    const scene = new Scene();
    scene.queue.noteIntake();
    await scene.ask('a1');
    await scene.workOn(900);
    scene.queue.noteIntake();
    await scene.ask('a2');
    expect(scene.running).toEqual(['a2']);
    await scene.workOn(900);
    scene.queue.noteIntake();
    await scene.ask('a3');
    expect(scene.running).toEqual([]);
    await scene.ask('a4', LIGHT);
    expect(scene.running).toEqual(['a4']);
  });

  test('nobody rests once nothing is taken in, nor longer than ten seconds', async () => {
    const scene = new Scene();
    await scene.ask('a1');
    await scene.workOn(30_000);
    await scene.ask('a2');
    expect(scene.running).toEqual(['a2']);
    await scene.workOn(30_000);
    scene.queue.noteIntake();
    await scene.ask('a3');
    expect(scene.running).toEqual([]);
    await scene.clock.pass(999);
    expect(scene.running).toEqual([]);
    await scene.clock.pass(1);
    expect(scene.running).toEqual(['a3']);
    await scene.workOn(30_000);
    scene.queue.noteIntake();
    await scene.ask('a4');
    await scene.passWithIntake(9_500);
    expect(scene.running).toEqual([]);
    await scene.passWithIntake(500);
    expect(scene.running).toEqual(['a4']);
  });

  test('the reads of a flow that has worked long get no light seats, because they take longer than was estimated', async () => {
    const scene = new Scene();
    await scene.ask('a1', LIGHT);
    await scene.workOn(5_000);
    await scene.askAll('a2 a3 a4 a5 a6 a7', LIGHT);
    expect(scene.running).toEqual(['a2', 'a3', 'a4', 'a5']);
  });
});

describe('reads that go on after their interrupt', () => {
  test('one of a flow gives its seat to others, a second one keeps it, and both are charged until they end', async () => {
    const scene = new Scene();
    await scene.askAll('a1 a2 a3 a4 a5 a6');
    await scene.hangUp('a1');
    expect(scene.outcomes.get('a1')).toBe('hung up');
    expect(scene.running).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
    await scene.hangUp('a2');
    expect([scene.running.length, scene.queue.leftOver, scene.queue.reading]).toEqual([5, 2, 4]);
    await scene.end('a2');
    expect(scene.running).toEqual(['a1', 'a3', 'a4', 'a5', 'a6']);
    await scene.end('a1');
    expect([scene.queue.leftOver, scene.queue.reading]).toEqual([0, 4]);
  });

  test('there are four in all at most that give their seats to others', async () => {
    const scene = new Scene();
    for (const name of ['a1', 'b1', 'c1', 'd1']) await scene.ask(name);
    for (const name of ['a1', 'b1', 'c1', 'd1']) await scene.hangUp(name);
    expect([scene.queue.leftOver, scene.queue.reading]).toEqual([4, 0]);
    await scene.ask('e1');
    await scene.hangUp('e1');
    expect([scene.queue.leftOver, scene.queue.reading]).toEqual([5, 1]);
    for (const name of ['a1', 'b1', 'c1', 'd1', 'e1']) await scene.end(name);
    expect([scene.queue.leftOver, scene.queue.reading, scene.running]).toEqual([0, 0, []]);
  });

  test('what a read worked after its interrupt counts: its flow comes after the others', async () => {
    const scene = new Scene();
    await scene.askAll('a1 b1 c1 d1');
    await scene.hangUp('a1');
    await scene.askAll('e1 a2 b2');
    await scene.clock.pass(100);
    await scene.end('a1');
    await scene.clock.pass(10);
    // a has worked 100 ms by then, b 110.
    await scene.end('b1');
    expect(scene.running.at(-1)).toBe('a2');
  });
});
