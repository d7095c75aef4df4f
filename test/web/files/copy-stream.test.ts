import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { copyStream, type FileTarget } from '../../../web/files/copy-stream.ts';

/** A file in memory; null: nothing of it is left. */
function fileOf(mostBytes: number | null) {
  const pieces: Uint8Array[] = [];
  let ended: 'closed' | 'discarded' | null = null;
  const target: FileTarget = {
    write: async (bytes) => void pieces.push(bytes),
    close: async () => {
      ended = 'closed';
    },
    discard: async () => {
      ended = 'discarded';
    },
    mostBytes,
  };
  return { target, text: () => Buffer.concat(pieces).toString(), ended: () => ended };
}

const stops: (() => unknown)[] = [];

afterEach(() => stops.splice(0).forEach((stop) => void stop()));

async function streamFrom(answer: NonNullable<Parameters<typeof createServer>[1]>) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close().closeAllConnections());
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  if (body === null) throw new Error('there is no body');
  return body as ReadableStream<Uint8Array<ArrayBuffer>>;
}

const options = (signal = new AbortController().signal) => ({ signal, onProgress: () => {} });

test('a whole answer becomes a whole file, and its length is told', async () => {
  const { target, text, ended } = fileOf(null);
  const lengths: number[] = [];
  const stream = await streamFrom((_request, response) => response.end('größe'.repeat(1_000)));
  await copyStream(stream, target, { signal: new AbortController().signal, onProgress: (bytes) => lengths.push(bytes) });
  expect([text(), ended(), lengths.at(-1)]).toEqual(['größe'.repeat(1_000), 'closed', 7_000]);
});

test('nothing is left of an answer that breaks off', async () => {
  const { target, ended } = fileOf(null);
  const stream = await streamFrom((_request, response) => {
    response.writeHead(200, { 'content-length': 1_000 }).write('the beginning');
    setImmediate(() => response.destroy());
  });
  await expect(copyStream(stream, target, options())).rejects.toThrow();
  expect(ended()).toBe('discarded');
});

test('nothing is left of an answer that is longer than the memory may be, and why is said', async () => {
  const { target, ended } = fileOf(2 * 1024 * 1024);
  const stream = await streamFrom((_request, response) => response.end('x'.repeat(2 * 1024 * 1024 + 1)));
  await expect(copyStream(stream, target, options())).rejects.toThrow('longer than the 2 MiB that are kept in memory');
  expect(ended()).toBe('discarded');
});

test('nothing is left of an answer that is given up', async () => {
  const { target, ended } = fileOf(null);
  const stream = await streamFrom((_request, response) => response.end('x'));
  const abort = new AbortController();
  abort.abort(new Error('given up'));
  await expect(copyStream(stream, target, options(abort.signal))).rejects.toThrow('given up');
  expect(ended()).toBe('discarded');
});
