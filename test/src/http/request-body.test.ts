import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { BodyMemory } from '../../../src/http/body-memory.ts';
import { steadyChunks } from '../../../src/http/request-body.ts';

const DEADLINE_MS = 30_000;
const memory = new BodyMemory({ capacityBytes: 1_000, deadlineMs: DEADLINE_MS, callerOf: () => 'someone' });

/** A body that gets what is pushed, and its chunks. */
function bodyAndChunks() {
  const body = new Readable({ read: () => undefined, autoDestroy: false });
  return { body, chunks: steadyChunks(body, memory.open({} as FastifyRequest), DEADLINE_MS) };
}

async function allOf(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

test('long chunks that came together are not joined, and are the very ones', async () => {
  const { body, chunks } = bodyAndChunks();
  const pushed = [4_096, 65_536, 65_536, 65_536, 5_000].map((bytes, index) => Buffer.alloc(bytes, index));
  for (const chunk of [...pushed, null]) body.push(chunk);
  const came = await allOf(chunks);
  expect(came.map(({ length }) => length)).toEqual(pushed.map(({ length }) => length));
  expect(came.every((chunk, index) => chunk === pushed[index])).toBe(true);
});

describe.each([
  ['of one byte', Array<number>(10_000).fill(1), 4],
  ['of an event', Array<number>(64).fill(1_024), 16],
  ['of many lengths', Array.from({ length: 500 }, (_, index) => [0, 1, 700, 4_095, 4_096, 20_000, 65_536][(index * 5) % 7] ?? 0), 1_000],
])('a body in chunks %s', (_what, lengths, mostPieces) => {
  const bytes = Buffer.from(Array.from({ length: lengths.reduce((sum, length) => sum + length) }, (_, index) => index % 251));

  test.each([
    ['before it is read', 1],
    ['in seven parts, while it is read', 7],
  ])(`arrives whole, in ${mostPieces} pieces at most for each time that chunks came together, %s`, async (_when, parts) => {
    const { body, chunks } = bodyAndChunks();
    const came = parts === 1 ? null : allOf(chunks);
    let at = 0;
    for (const [index, length] of lengths.entries()) {
      body.push(bytes.subarray(at, at + length));
      at += length;
      if (index % Math.ceil(lengths.length / parts) === 0) await nextTurn();
    }
    body.push(null);
    const pieces = await (came ?? allOf(chunks));
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    expect(pieces.length).toBeLessThanOrEqual(mostPieces * (parts + 1));
  });
});

test.each([
  ['with an error', new Error('the client has gone'), { message: 'the client has gone' }],
  ['without one', undefined, { message: 'the body broke off', code: 'ERR_STREAM_PREMATURE_CLOSE' }],
])('a body that breaks off %s, before it is read or while it is, is not taken for a whole one', async (_how, error, told) => {
  for (const before of [0, 1, 2]) {
    const { body, chunks } = bodyAndChunks();
    body.on('error', () => undefined);
    for (let chunk = 0; chunk < before; chunk++) {
      body.push('a');
      expect(String((await chunks.next()).value)).toBe('a');
    }
    body.destroy(error);
    if (before === 0) await new Promise((resolve) => body.once('close', resolve));
    await expect(allOf(chunks)).rejects.toMatchObject(told);
  }
});

test('a body that was read to its end has no chunks', async () => {
  const { body, chunks } = bodyAndChunks();
  body.push(null);
  await once(body.resume(), 'end');
  expect(await allOf(chunks)).toEqual([]);
});

test('whoever asks for no more leaves the stream open, with what was not asked for in it', async () => {
  const { body, chunks } = bodyAndChunks();
  body.push('a');
  expect(String((await chunks.next()).value)).toBe('a');
  await chunks.return(undefined);
  body.push('b');
  expect([body.destroyed, body.isPaused(), body.listenerCount('data')]).toEqual([false, true, 0]);
  expect(String(body.read())).toBe('b');
});
