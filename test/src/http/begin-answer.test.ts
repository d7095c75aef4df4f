import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type AnswerPart, WRITE_BYTES } from '../../../src/http/answer-writes.ts';
import { type AnswerOutcome, type AnswerToSend, beginAnswer } from '../../../src/http/begin-answer.ts';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import { eventually } from '../../fixtures/eventually.ts';

const MIB = 1024 * 1024;

type Pieces = (signal: AbortSignal) => AsyncGenerator<readonly AnswerPart[]>;

/** A server that answers with these pieces, and how its answers ended. */
async function serverOf(read: Pieces, limits: Pick<AnswerToSend, 'deadlineMs' | 'idleMs'> = {}) {
  const outcomes: AnswerOutcome[] = [];
  const app = fastify();
  app.setErrorHandler((error, _request, reply) => reply.code(503).send(`refused: ${(error as Error).message}`));
  app.get('/', async (_request, reply) => {
    const onEnd = (outcome: AnswerOutcome): void => void outcomes.push(outcome);
    const answer = { turns: new MainThreadTurns(), reply, what: 'an answer', read, ...limits, onEnd };
    return reply.type('text/plain').send(await beginAnswer(answer));
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  return { url, port: (app.server.address() as AddressInfo).port, outcomes };
}

/** A client that takes the first bytes of an answer, and reads on to its end when it is told to. */
async function firstBytes(port: number, version = '1.1') {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let error: string | null = null;
  socket.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
    error = code;
  });
  const closed = new Promise<string | null>((resolve) => socket.once('close', () => resolve(error)));
  socket.write(`GET / HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const [first] = await once(socket, 'data');
  socket.pause();
  return {
    head: String(first).split('\r\n\r\n', 1)[0] ?? '',
    readOn: () => {
      socket.resume();
      return closed;
    },
  };
}

async function* small(): AsyncGenerator<readonly AnswerPart[]> {
  yield ['{"a":', Buffer.from('1')];
  yield ['}'];
}

async function* endless(): AsyncGenerator<readonly AnswerPart[]> {
  for (;;) yield [Buffer.alloc(MIB)];
}

describe('an answer', () => {
  test('of one write has its length, a longer one is sent in chunks', async () => {
    const short = await serverOf(small);
    const answer = await fetch(short.url);
    expect([answer.headers.get('content-length'), await answer.text()]).toEqual(['7', '{"a":1}']);
    await expect.poll(() => short.outcomes).toEqual(['sent']);
    const long = await serverOf(async function* () {
      yield ['x', Buffer.alloc(WRITE_BYTES, 'x')];
    });
    const chunks = await fetch(long.url);
    expect([chunks.headers.get('transfer-encoding'), (await chunks.text()).length]).toEqual(['chunked', WRITE_BYTES + 1]);
    await expect.poll(() => long.outcomes).toEqual(['sent']);
  });

  test('whose body is given up before anybody read of it gives back what it holds', async () => {
    const { promise: given, resolve: giveBack } = Promise.withResolvers<string>();
    const app = fastify();
    onTestFinished(() => app.close());
    app.get('/', async (_request, reply) => {
      const read = async function* (): AsyncGenerator<readonly AnswerPart[]> {
        try {
          yield* endless();
        } finally {
          giveBack('given back');
        }
      };
      const body = await beginAnswer({ turns: new MainThreadTurns(), reply, what: 'an answer', read });
      (body as Readable).destroy();
      return 'something else';
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    expect(await (await fetch(url)).text()).toBe('something else');
    expect(await given).toBe('given back');
  });

  test('that fails before its first byte is an error with a body', async () => {
    const { url, outcomes } = await serverOf(async function* () {
      yield ['some'];
      throw new Error('no room');
    });
    const answer = await fetch(url);
    expect([answer.status, await answer.text(), outcomes]).toEqual([503, 'refused: no room', ['failed']]);
  });

  test.each(['1.0', '1.1'])('that fails later is cut off, so that nobody takes a part for the whole (HTTP/%s)', async (version) => {
    const { port, outcomes } = await serverOf(async function* () {
      yield [Buffer.alloc(MIB)];
      throw new Error('no more');
    });
    const { head, readOn } = await firstBytes(port, version);
    expect(head).toContain(' 200 OK');
    expect(await readOn()).toBe('ECONNRESET');
    await expect.poll(() => outcomes).toEqual(['failed']);
  });

  test.each(['1.0', '1.1'])('is cut off where its reader takes nothing (HTTP/%s)', async (version) => {
    const { port, outcomes } = await serverOf(endless, { idleMs: 200 });
    const { readOn } = await firstBytes(port, version);
    await expect.poll(() => outcomes).toEqual(['idle']);
    expect(await readOn()).toBe('ECONNRESET');
  });

  test('is cut off at its deadline, although its reader reads', async () => {
    const { port, outcomes } = await serverOf(endless, { deadlineMs: 500 });
    const { readOn } = await firstBytes(port);
    expect(await readOn()).toBe('ECONNRESET');
    await expect.poll(() => outcomes).toEqual(['deadline']);
  });

  test('asks for no more while nobody reads, and gives its source back when the reader goes away', async () => {
    let asked = 0;
    let isGivenBack = false;
    const { port, outcomes } = await serverOf(async function* () {
      try {
        for (; ; asked += 1) yield [Buffer.alloc(MIB)];
      } finally {
        isGivenBack = true;
      }
    });
    const reader = connect(port, '127.0.0.1');
    onTestFinished(() => void reader.destroy());
    reader.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(reader, 'readable');
    // The kernel takes some megabytes for both ends of the connection.
    await eventually('nothing more is asked for', async () => {
      const before = asked;
      await delay(200);
      return asked === before;
    });
    expect(asked).toBeLessThan(64);
    expect(isGivenBack).toBe(false);
    reader.destroy();
    await expect.poll(() => [isGivenBack, outcomes]).toEqual([true, ['hung_up']]);
  });
});
