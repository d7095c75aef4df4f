import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BodyMemory, FREE_BODY_BYTES, type HeldBody, ROOM_MS } from '../../../src/http/body-memory.ts';
import { assertProperty } from '../../random/assert-property.ts';

const KIB = 1024;
const DEADLINE_MS = 30_000;
const CAPACITY_BYTES = 1_000 * KIB;

const memory = (): BodyMemory =>
  new BodyMemory({ capacityBytes: CAPACITY_BYTES, deadlineMs: DEADLINE_MS, callerOf: (request) => String(request.id) });

/** A request of a caller. */
const from = (caller: string): FastifyRequest => ({ id: caller }) as FastifyRequest;

const REFUSED = 'Too many bytes of requests wait for the rest of their bodies; try again later';
const ENDED = 'The memory of this body was needed for another caller; send it again later';

/** What became of holding so many bytes beside those that are free. */
function outcome(body: HeldBody, countedBytes: number): string {
  try {
    body.hold('body', FREE_BODY_BYTES + countedBytes);
    return 'held';
  } catch (error) {
    expect(error).toMatchObject({ status: 503, errorKey: 'store.busy', headers: { 'retry-after': '5', connection: 'close' } });
    return (error as Error).message;
  }
}

/** Bodies of callers with the KiB that they hold, in their order. */
function bodiesOf(bodies: BodyMemory, held: readonly (readonly [caller: string, kib: number])[]): readonly HeldBody[] {
  return held.map(([caller, kib]) => {
    const body = bodies.open(from(caller));
    expect(outcome(body, kib * KIB)).toBe('held');
    return body;
  });
}

describe('where there is no room', () => {
  test.each<[what: string, held: [string, number][], caller: string, kib: number, is: string, ended: number[]]>([
    ['a caller that is alone is refused', [['a', 1_000]], 'a', 1, REFUSED, []],
    ['one more than would ever fit is refused', [], 'a', 1_001, REFUSED, []],
    [
      'the newest body of the caller that holds most is ended',
      [
        ['a', 300],
        ['b', 200],
        ['a', 500],
      ],
      'c',
      100,
      'held',
      [2],
    ],
    [
      'as many bodies are ended as it takes',
      [
        ['a', 300],
        ['a', 300],
        ['a', 300],
        ['b', 100],
      ],
      'c',
      450,
      'held',
      [1, 2],
    ],
    [
      'a caller is refused that would hold as much as the largest other one',
      [
        ['a', 500],
        ['b', 500],
      ],
      'c',
      500,
      REFUSED,
      [],
    ],
    [
      'the bodies of a caller count together',
      [
        ['a', 600],
        ['b', 400],
      ],
      'b',
      200,
      REFUSED,
      [],
    ],
    [
      'a caller with less gets room in spite of its other bodies',
      [
        ['a', 800],
        ['b', 200],
      ],
      'b',
      100,
      'held',
      [0],
    ],
  ])('%s', (_what, held, caller, kib, is, ended) => {
    const bodies = memory();
    const open = bodiesOf(bodies, held);
    const isRefused = is !== 'held';
    const early = (): void => bodies.requireRoom(from(caller), kib * KIB);
    if (isRefused) expect(early).toThrow(REFUSED);
    else expect(early).not.toThrow();
    expect(outcome(bodies.open(from(caller)), kib * KIB)).toBe(is);
    expect(open.map((body, index) => outcome(body, (held[index]?.[1] ?? 0) * KIB))).toEqual(
      held.map((_one, index) => (ended.includes(index) ? ENDED : 'held')),
    );
  });

  test('a body that is ended tells who waits for it, also one that waits later', () => {
    const bodies = memory();
    const [large] = bodiesOf(bodies, [['a', 1_000]]);
    const told: string[] = [];
    large?.whenEnded(({ message }) => told.push(message));
    expect(outcome(bodies.open(from('b')), KIB)).toBe('held');
    large?.whenEnded(({ message }) => told.push(message));
    expect(told).toEqual([ENDED, ENDED]);
  });
});

test('the first 16 KiB of a body are free, and what is given back can be held again', () => {
  const bodies = memory();
  const full = bodies.open(from('a'));
  expect(outcome(full, CAPACITY_BYTES)).toBe('held');
  for (let index = 0; index < 100; index += 1) expect(outcome(bodies.open(from('a')), 0)).toBe('held');
  expect(outcome(bodies.open(from('a')), 1)).toBe(REFUSED);
  full[Symbol.dispose]();
  expect(outcome(bodies.open(from('a')), CAPACITY_BYTES)).toBe('held');
});

test.each([
  ['body', FREE_BODY_BYTES],
  ['records', FREE_BODY_BYTES],
  ['rejections', FREE_BODY_BYTES],
  ['decoder', 0],
] as const)('what an input holds of its %s counts, and is refused whole', (part, freeBytes) => {
  const bodies = memory();
  const body = bodies.open(from('a'));
  expect(() => body.hold(part, freeBytes + CAPACITY_BYTES + 1)).toThrow(REFUSED);
  const other = bodies.open(from('a'));
  other.hold(part, freeBytes + CAPACITY_BYTES);
  expect(outcome(bodies.open(from('a')), 1)).toBe(REFUSED);
  other.hold(part, 0);
  expect(outcome(bodies.open(from('a')), CAPACITY_BYTES)).toBe('held');
});

describe('the time of an event', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  test('begins with its first counted byte, ends with it, and stands still while nobody reads', () => {
    const body = memory().open(from('a'));
    body.hold('body', FREE_BODY_BYTES);
    expect(body.eventMsLeft()).toBe(Number.POSITIVE_INFINITY);
    body.hold('body', FREE_BODY_BYTES + 1);
    vi.advanceTimersByTime(1_000);
    body.hold('body', FREE_BODY_BYTES + 2);
    expect(body.eventMsLeft()).toBe(DEADLINE_MS - 1_000);
    vi.advanceTimersByTime(60_000);
    body.wasPaused(60_000);
    expect(body.eventMsLeft()).toBe(DEADLINE_MS - 1_000);
    body.wasPaused(60_000);
    expect(body.eventMsLeft()).toBe(DEADLINE_MS);
    body.hold('body', 0);
    expect(body.eventMsLeft()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a body of a door', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('waits for room, and is refused after some seconds without', async () => {
    const bodies = memory();
    const [full] = bodiesOf(bodies, [['a', 1_000]]);
    const waiting = bodies.open(from('a'));
    const held = waiting.whenRoom(() => waiting.hold('body', FREE_BODY_BYTES + KIB));
    await vi.advanceTimersByTimeAsync(ROOM_MS - 1);
    full?.[Symbol.dispose]();
    await held;
    const other = bodies.open(from('a'));
    const refused = expect(other.whenRoom(() => other.hold('body', FREE_BODY_BYTES + CAPACITY_BYTES))).rejects.toThrow(REFUSED);
    await vi.advanceTimersByTimeAsync(ROOM_MS);
    await refused;
  });

  test('waits no longer in all, however often it has to', async () => {
    const bodies = memory();
    const [first, second] = bodiesOf(bodies, [
      ['a', 500],
      ['a', 500],
    ]);
    const waiting = bodies.open(from('a'));
    const some = waiting.whenRoom(() => waiting.hold('body', FREE_BODY_BYTES + 500 * KIB));
    await vi.advanceTimersByTimeAsync(ROOM_MS - 1);
    first?.[Symbol.dispose]();
    await some;
    const more = expect(waiting.whenRoom(() => waiting.hold('body', FREE_BODY_BYTES + 600 * KIB))).rejects.toThrow(REFUSED);
    await vi.advanceTimersByTimeAsync(1);
    await more;
    second?.[Symbol.dispose]();
  });

  test('is told at once where it gave way while it waited', async () => {
    const bodies = memory();
    const waiting = bodies.open(from('a'));
    waiting.hold('body', FREE_BODY_BYTES + 900 * KIB);
    const more = expect(waiting.whenRoom(() => waiting.hold('body', FREE_BODY_BYTES + 2_000 * KIB))).rejects.toThrow(ENDED);
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome(bodies.open(from('b')), 200 * KIB)).toBe('held');
    await more;
  });

  test('gives way to nobody once it has come whole, and counts until it is answered', () => {
    const bodies = memory();
    const whole = bodies.open(from('a'));
    whole.hold('body', FREE_BODY_BYTES + 900 * KIB);
    whole.keep();
    whole.hold('rejections', 50 * KIB);
    expect(outcome(bodies.open(from('b')), 51 * KIB)).toBe(REFUSED);
    expect(() => bodies.requireRoom(from('b'), 51 * KIB)).toThrow(REFUSED);
    expect(outcome(bodies.open(from('b')), 50 * KIB)).toBe('held');
    whole[Symbol.dispose]();
    expect(outcome(bodies.open(from('b')), 950 * KIB)).toBe('held');
  });

  test('that gave way is not kept', () => {
    const bodies = memory();
    const [gone] = bodiesOf(bodies, [['a', 1_000]]);
    expect(outcome(bodies.open(from('b')), KIB)).toBe('held');
    expect(() => gone?.keep()).toThrow(ENDED);
  });
});

test('never more is held than there is, and nobody is refused while another caller holds more', () => {
  const step = fc.record({ body: fc.nat(8), kib: fc.nat(700), isEnd: fc.boolean() });
  assertProperty(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const bodies = memory();
      const held = new Map<number, { readonly body: HeldBody; bytes: number }>();
      const callerOf = (body: number): string => `caller ${body % 3}`;
      const of = (caller: string): number =>
        [...held].reduce((sum, [number, { bytes }]) => (callerOf(number) === caller ? sum + bytes : sum), 0);
      for (const { body: number, kib, isEnd } of steps) {
        const one = held.get(number) ?? { body: bodies.open(from(callerOf(number))), bytes: 0 };
        one.body.whenEnded(() => held.delete(number));
        held.set(number, one);
        if (isEnd) {
          one.body[Symbol.dispose]();
          held.delete(number);
          continue;
        }
        const bytes = kib * KIB;
        const is = outcome(one.body, bytes);
        if (is === 'held') one.bytes = bytes;
        const sums = [0, 1, 2].map((caller) => of(callerOf(caller)));
        const wanted = of(callerOf(number)) + (is === 'held' ? 0 : bytes - one.bytes);
        if (is !== 'held') expect(Math.max(...sums.filter((_sum, caller) => caller !== number % 3))).toBeLessThanOrEqual(wanted);
        expect(sums.reduce((all, sum) => all + sum, 0)).toBeLessThanOrEqual(CAPACITY_BYTES);
      }
    }),
  );
});
