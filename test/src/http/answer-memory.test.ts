import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { AnswerMemory } from '../../../src/http/answer-memory.ts';
import { onePiece } from '../../../src/http/answer-writer.ts';
import { RequestProblem } from '../../../src/http/problem.ts';
import { beginAnswer } from '../../../src/http/sent-answer.ts';

const MIB = 1024 * 1024;
/** More than the kernel takes of an answer that nobody reads. */
const LARGE = 32 * MIB;

/** A server of answers of any size, in memory of 40 MiB; `held` says how many the callers have not taken. */
async function serverOfAnswers(idleMs?: number) {
  const memory = new AnswerMemory(40 * MIB, idleMs);
  const open = new Set<object>();
  const app = fastify();
  app.setErrorHandler((error, _request, reply) =>
    error instanceof RequestProblem ? reply.code(503).headers(error.headers).send(error.errorKey) : reply.code(500).send(String(error)),
  );
  app.get<{ Params: { bytes: string } }>('/:bytes', async (request, reply) => {
    const body = Buffer.alloc(Number(request.params.bytes), 'x');
    memory.hold(reply.raw, body.length);
    open.add(reply.raw);
    reply.raw.once('close', () => open.delete(reply.raw));
    return reply.send(await beginAnswer({ response: reply.raw, read: () => onePiece([body]), idleMs: memory.idleMs }));
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { url, port, open };
}

/** A client that takes the head of an answer and nothing more. */
async function unread(port: number, bytes: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(`GET /${bytes} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

test('an answer without room beside untaken ones is refused, a smaller one is given, and room comes back with the connection', async () => {
  const { url, port, open } = await serverOfAnswers();
  const reader = await unread(port, LARGE);
  const refused = await fetch(`${url}/${LARGE}`);
  expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([503, '5', 'store.busy']);
  expect((await (await fetch(`${url}/${4 * MIB}`)).arrayBuffer()).byteLength).toBe(4 * MIB);
  reader.destroy();
  await expect.poll(() => open.size).toBe(0);
  expect((await (await fetch(`${url}/${LARGE}`)).arrayBuffer()).byteLength).toBe(LARGE);
});

test('an answer larger than the memory of all is given where it is alone', async () => {
  const { url } = await serverOfAnswers();
  for (let time = 0; time < 2; time += 1) {
    expect((await (await fetch(`${url}/${64 * MIB}`)).arrayBuffer()).byteLength).toBe(64 * MIB);
  }
});

test('a usual answer is given also where those that nobody takes use up the memory', async () => {
  const { url, port } = await serverOfAnswers();
  await unread(port, 64 * MIB);
  expect((await fetch(`${url}/${MIB}`)).status).toBe(503);
  expect((await (await fetch(`${url}/${MIB / 4}`)).arrayBuffer()).byteLength).toBe(MIB / 4);
});

test('a caller who takes nothing for the time is cut off, and the room is given back', async () => {
  const { url, port, open } = await serverOfAnswers(200);
  await unread(port, LARGE);
  await expect.poll(() => open.size, { timeout: 10_000 }).toBe(0);
  expect((await fetch(`${url}/${LARGE}`)).status).toBe(200);
});
