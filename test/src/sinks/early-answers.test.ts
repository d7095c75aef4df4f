import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { trustIn } from '../../../src/sinks/connections.ts';
import { createHttpClient } from '../../../src/sinks/http-exchange.ts';
import { httpSink } from '../../../src/sinks/http-sink.ts';
import { expectedIds, idsIn, sampleBatch } from './sample-events.ts';
import { testCertificate } from './test-certificate.ts';

const FOREVER = new AbortController().signal;
const CERTIFICATE = await testCertificate();
/** More than the buffers of a connection hold. */
const LONG_BATCH = sampleBatch(20_000);
/** One that is sent in one request, of more than the buffers of both sides can grow to. */
const LONG_LINE = { bytes: Buffer.from(`${'x'.repeat(64 * 1024 * 1024)}\n`), count: 1 };

const answerText = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;

/** How a receiver gets rid of a connection whose request it has not read. */
const ENDINGS = {
  'closed before anything of the request was read': (socket: Socket, answer: string) => {
    socket.write(answer, () => socket.destroy());
  },
  'closed in the middle of the request': (socket: Socket, answer: string) => {
    socket.once('data', () => {
      socket.pause();
      socket.write(answer, () => socket.destroy());
    });
  },
  'left open, and read no further': (socket: Socket, answer: string) => {
    socket.once('data', () => {
      socket.pause();
      socket.write(answer);
    });
  },
  'cut in the middle of the answer': (socket: Socket, answer: string) => {
    socket.once('data', () => {
      socket.pause();
      socket.write(answer.slice(0, -1), () => socket.destroy());
    });
  },
} as const;

type Ending = keyof typeof ENDINGS;

/** Answers the first connections early, as often as told, and takes everything on the ones after that. */
async function earlyListener(tls: boolean, answers: readonly string[], ending: Ending) {
  const bodies: string[] = [];
  const sockets = new Set<Socket>();
  const rest = [...answers];
  const patient = createHttpServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      response.writeHead(204).end();
    });
  });
  const onConnection = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    const answer = rest.shift();
    if (answer === undefined) patient.emit('connection', socket);
    else ENDINGS[ending](socket, answer);
  };
  const server = tls ? createTlsServer({ key: CERTIFICATE.key, cert: CERTIFICATE.cert }, onConnection) : createServer(onConnection);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = new URL(`${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const client = createHttpClient(tls ? trustIn(CERTIFICATE.cert) : null);
  const sink = httpSink({ url, token: null, gzip: false, client, now: Date.now, acceptAny: false, setsAside: false });
  onTestFinished(() => sink.close());
  return { sink, bodies };
}

const WAYS = [false, true].flatMap((tls) =>
  (Object.keys(ENDINGS) as Ending[]).map((ending) => [tls ? 'TLS' : 'TCP', ending, tls] as const),
);

describe.each(WAYS)('over %s, where a request is answered before it is sent whole and the connection is %s,', (_, ending, tls) => {
  test.each([
    ['401 Unauthorized', 'refused', null],
    ['429 Too Many Requests\r\nretry-after: 7', 'unavailable', 7_000],
  ] as const)('the answer counts: %j', async (status, code, retryAfterMs) => {
    const { sink } = await earlyListener(tls, [answerText(status, 'why')], ending);
    await expect(sink.deliver(LONG_BATCH, FOREVER)).rejects.toMatchObject({
      code,
      retryAfterMs,
      message: expect.stringContaining(` answered ${status.slice(0, 3)}: wh`),
    });
  });

  test('an answer that takes the batch does not count, and the batch comes again', async () => {
    const { sink, bodies } = await earlyListener(tls, [answerText('200 OK', 'done')], ending);
    const words = ending === 'cut in the middle of the answer' ? 'the connection to' : 'answered 200 before the request was sent whole';
    await expect(sink.deliver(LONG_LINE, FOREVER)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(words) });
    await sink.deliver(LONG_LINE, FOREVER);
    expect(bodies.map((body) => body.length)).toEqual([LONG_LINE.bytes.length]);
  });

  test('what is too large is sent in halves', async () => {
    const { sink, bodies } = await earlyListener(tls, [answerText('413 Content Too Large', 'why')], ending);
    await sink.deliver(LONG_BATCH, FOREVER);
    expect(bodies.flatMap(idsIn)).toEqual(expectedIds(20_000));
  });
});
