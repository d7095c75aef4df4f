import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AnswerPart, answerWrites, joinParts, onePiece, WRITE_BYTES } from '../../../src/http/answer-writes.ts';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import { assertAsyncProperty } from '../../random/assert-property.ts';

async function writesOf(pieces: AsyncIterable<Iterable<AnswerPart>>, turns?: MainThreadTurns): Promise<Buffer[]> {
  const writes: Buffer[] = [];
  const left = answerWrites(pieces, turns);
  for (;;) {
    const { value, done } = await left.next();
    writes.push(value);
    if (done === true) return writes;
  }
}

async function* inPieces(pieces: readonly (readonly AnswerPart[])[]): AsyncGenerator<readonly AnswerPart[]> {
  yield* pieces;
}

const letters = fc.string({ unit: 'grapheme' });
const size = fc.oneof(fc.nat(40), fc.nat(3 * WRITE_BYTES), fc.constantFrom(WRITE_BYTES - 1, WRITE_BYTES, WRITE_BYTES + 1));
const part = fc.oneof(
  letters,
  fc.tuple(letters, size).map(([text, bytes]) => text.repeat(bytes / Math.max(1, text.length))),
  size.map((bytes) => new Uint8Array(bytes).fill(bytes)),
);

describe('an answer', () => {
  test('is written as its parts are, in full writes and a last one', async () => {
    await assertAsyncProperty(
      fc.asyncProperty(fc.array(fc.array(part, { maxLength: 6 }), { maxLength: 5 }), async (pieces) => {
        const writes = await writesOf(inPieces(pieces));
        expect(Buffer.concat(writes).equals(joinParts(pieces.flat()))).toBe(true);
        for (const { length } of writes.slice(0, -1)) expect(length).toBe(WRITE_BYTES);
        expect(writes.at(-1)?.length).toBeLessThanOrEqual(WRITE_BYTES);
      }),
    );
  });

  test('of one write is returned at once, so that its length is known', async () => {
    expect(await answerWrites(onePiece(['{"a":', Buffer.from('1'), '}'])).next()).toEqual({ value: Buffer.from('{"a":1}'), done: true });
    expect(await answerWrites(onePiece([Buffer.alloc(WRITE_BYTES)])).next()).toMatchObject({ done: true });
    expect(await answerWrites(onePiece([Buffer.alloc(WRITE_BYTES), 'x'])).next()).toMatchObject({ done: false });
  });

  test('is written as far as it is there while the next piece is not', async () => {
    const { promise: read, resolve } = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<readonly AnswerPart[]> {
      yield ['first'];
      await read;
      yield ['second'];
    }
    const left = answerWrites(slow());
    expect(await left.next()).toEqual({ value: Buffer.from('first'), done: false });
    resolve();
    expect(await left.next()).toEqual({ value: Buffer.from('second'), done: true });
  });

  test('makes no part before it is written', async () => {
    let made = 0;
    function* parts(): Iterable<AnswerPart> {
      for (; made < 100; made += 1) yield Buffer.alloc(WRITE_BYTES / 2);
    }
    const left = answerWrites(onePiece(parts()));
    await left.next();
    expect(made).toBe(2);
    await left.next();
    expect(made).toBe(4);
  });

  test('gives its source back where it is not written to its end, and fails as its source does', async () => {
    let isGivenBack = false;
    async function* held(): AsyncGenerator<readonly AnswerPart[]> {
      try {
        yield [Buffer.alloc(3 * WRITE_BYTES)];
      } finally {
        isGivenBack = true;
      }
    }
    const left = answerWrites(held());
    await left.next();
    await left.return(Buffer.alloc(0));
    expect(isGivenBack).toBe(true);
    async function* broken(): AsyncGenerator<readonly AnswerPart[]> {
      yield ['some'];
      throw new Error('no more');
    }
    await expect(writesOf(broken())).rejects.toThrow('no more');
  });
});

describe('other work has its turn', () => {
  /** Counts the turns of the event loop until it is stopped. */
  function countTurns() {
    const counted = { turns: 0, isStopped: false };
    const count = async (): Promise<void> => {
      for (; !counted.isStopped; counted.turns += 1) await nextTurn();
    };
    void count();
    return counted;
  }

  test('after each write', async () => {
    const counted = countTurns();
    expect(await writesOf(onePiece([Buffer.alloc(40 * WRITE_BYTES)]))).toHaveLength(40);
    counted.isStopped = true;
    expect(counted.turns).toBeGreaterThanOrEqual(39);
  });

  test.each([
    ['that makes the answer', 'x'],
    ['that makes no part of it', ''],
  ])('after some milliseconds of work %s', async (_what, made) => {
    const counted = countTurns();
    let nowMs = 0;
    function* slow(): Iterable<AnswerPart> {
      for (let count = 0; count < 100; count += 1) {
        nowMs += 5;
        yield made;
      }
    }
    expect(await writesOf(onePiece(slow()), new MainThreadTurns(() => nowMs))).toEqual([Buffer.from(made.repeat(100))]);
    counted.isStopped = true;
    expect(counted.turns).toBeGreaterThanOrEqual(49);
  });
});
