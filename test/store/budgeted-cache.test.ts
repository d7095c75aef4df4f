import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BudgetedCache } from '../../store/budgeted-cache.ts';
import { assertProperty } from '../random/assert-property.ts';

interface Entry {
  readonly key: string;
  size: number;
  isInUse: boolean;
}

const BUDGET = 10;

function cacheUnderTest() {
  const evicted: string[] = [];
  const cache = new BudgetedCache<string, Entry>({
    budget: BUDGET,
    sizeOf: ({ size }) => size,
    canEvict: ({ isInUse }) => !isInUse,
    onEvicted: ({ key }) => evicted.push(key),
  });
  const add = (key: string, size: number, isInUse = false) => cache.add(key, { key, size, isInUse });
  const keys = () => cache.values.map(({ key }) => key);
  return { cache, evicted, add, keys };
}

test('the entry that was used longest ago makes room', () => {
  const { cache, evicted, add, keys } = cacheUnderTest();
  add('a', 4);
  add('b', 4);
  expect(cache.use('a')?.key).toBe('a');
  expect(add('c', 3)).toBe(true);
  expect(evicted).toEqual(['b']);
  expect(keys()).toEqual(['a', 'c']);
  expect(cache.use('b')).toBeUndefined();
});

test('an entry in use makes no room, and nothing is evicted for what does not fit all the same', () => {
  const { cache, evicted, add, keys } = cacheUnderTest();
  add('a', 4);
  add('b', 4, true);
  expect(add('c', 7)).toBe(false);
  expect(add('d', 11)).toBe(false);
  expect([keys(), evicted]).toEqual([['a', 'b'], []]);
  expect(add('e', 6)).toBe(true);
  expect([keys(), evicted]).toEqual([['b', 'e'], ['a']]);
  expect(cache.evictAll()).toBe(true);
  expect(cache.evictAll()).toBe(false);
  expect(evicted).toEqual(['a', 'b', 'e']);
});

test('a new entry of a key takes the place of the former one, which is told as evicted', () => {
  const { evicted, add, keys } = cacheUnderTest();
  add('a', 2);
  expect(add('a', 3)).toBe(true);
  expect([keys(), evicted]).toEqual([['a'], ['a']]);
});

type Step =
  | { readonly kind: 'add'; readonly key: string; readonly size: number }
  | { readonly kind: 'evict' | 'use'; readonly key: string }
  | { readonly kind: 'makeRoom'; readonly size: number }
  | { readonly kind: 'evictAll' };

/** A change of an entry in the cache. */
interface Change {
  readonly kind: 'change';
  readonly key: string;
  readonly grows: boolean;
  readonly isInUse: boolean;
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const size = fc.integer({ min: 1, max: BUDGET + 1 });
const anyStep: fc.Arbitrary<Step | Change> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('add' as const), key, size }), weight: 8 },
  { arbitrary: fc.record({ kind: fc.constantFrom('evict' as const, 'use'), key }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant('change' as const), key, grows: fc.boolean(), isInUse: fc.boolean() }), weight: 5 },
  { arbitrary: fc.record({ kind: fc.constant('makeRoom' as const), size }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant('evictAll' as const) }), weight: 1 },
);

/** A plain model of the cache: a list of entries, the one used longest ago first. */
class PlainCache {
  values: readonly Entry[] = [];
  readonly evicted: string[] = [];

  use(wanted: string): Entry | undefined {
    const found = this.values.find((entry) => entry.key === wanted);
    this.values = found === undefined ? this.values : [...this.values.filter((entry) => entry !== found), found];
    return found;
  }

  add(added: string, entry: Entry): boolean {
    this.evict(added);
    const hasRoom = this.makeRoom(entry.size);
    this.values = hasRoom ? [...this.values, entry] : this.values;
    return hasRoom;
  }

  makeRoom(wanted: number): boolean {
    for (let count = 0; count <= this.values.length; count += 1) {
      const going = this.values.filter(({ isInUse }) => !isInUse).slice(0, count);
      const left = this.values.filter((entry) => !going.includes(entry));
      if (left.reduce((total, entry) => total + entry.size, 0) + wanted <= BUDGET) {
        this.#keep(left);
        return true;
      }
    }
    return false;
  }

  evict(gone: string): void {
    this.#keep(this.values.filter((entry) => entry.key !== gone));
  }

  evictAll(): boolean {
    const hadSome = this.values.length > 0;
    this.#keep([]);
    return hadSome;
  }

  #keep(left: readonly Entry[]): void {
    this.evicted.push(...this.values.filter((entry) => !left.includes(entry)).map((entry) => entry.key));
    this.values = left;
  }
}

/** The entries of both caches are the same objects. */
function change(entries: readonly Entry[], { key: changed, grows, isInUse }: Change): void {
  const entry = entries.find((one) => one.key === changed);
  if (entry !== undefined) {
    entry.isInUse = isInUse;
    entry.size += grows ? 1 : 0;
  }
}

/** Takes a step and returns the result of the cache. */
function take(
  step: Step,
  cache: Pick<BudgetedCache<string, Entry>, 'add' | 'makeRoom' | 'use' | 'evict' | 'evictAll' | 'values'>,
  added: Entry,
) {
  switch (step.kind) {
    case 'add':
      return cache.add(step.key, added);
    case 'makeRoom':
      return cache.makeRoom(step.size);
    case 'evictAll':
      return cache.evictAll();
    case 'use':
      return cache.use(step.key);
    default:
      return cache.evict(step.key);
  }
}

test('whatever happens to it, a cache holds what a plain list would, and says of every entry that leaves that it does', () => {
  assertProperty(
    fc.property(fc.array(anyStep, { maxLength: 80 }), (steps) => {
      const { cache, evicted } = cacheUnderTest();
      const plain = new PlainCache();
      for (const step of steps) {
        if (step.kind === 'change') {
          change(plain.values, step);
        } else {
          const added = { key: 'key' in step ? step.key : '', size: 'size' in step ? step.size : 0, isInUse: false };
          expect(take(step, cache, added)).toEqual(take(step, plain, added));
        }
        expect(cache.values).toEqual(plain.values);
        expect(evicted).toEqual(plain.evicted);
      }
    }),
  );
});
