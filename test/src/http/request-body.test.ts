import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
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

test('chunks that came together are not joined, and are the very ones', async () => {
  const { body, chunks } = bodyAndChunks();
  const pushed = ['a', 'bc', 'def'].map((text) => Buffer.from(text));
  for (const chunk of [...pushed, null]) body.push(chunk);
  const came = await allOf(chunks);
  expect(came).toEqual(pushed);
  expect(came.every((chunk, index) => chunk === pushed[index])).toBe(true);
});

test.each([
  ['with an error', new Error('the client has gone'), 'the client has gone'],
  ['without one', undefined, 'the body broke off'],
])('a body that breaks off %s, before it is read or while it is, is not taken for a whole one', async (_how, error, message) => {
  for (const before of [0, 1, 2]) {
    const { body, chunks } = bodyAndChunks();
    body.on('error', () => undefined);
    for (let chunk = 0; chunk < before; chunk++) {
      body.push('a');
      expect(String((await chunks.next()).value)).toBe('a');
    }
    body.destroy(error);
    if (before === 0) await new Promise((resolve) => body.once('close', resolve));
    await expect(allOf(chunks)).rejects.toThrow(message);
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
