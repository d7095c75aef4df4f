import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { operation } from '../../../edge/operations/operations.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { EXAMPLE_REQUESTS, exampleOf, send } from '../example-requests.ts';
import { expectAnswer } from '../schema-check.ts';
import { CLOSED_PORT_URL, recordingUpstream, socketUpstream } from '../upstreams.ts';
import { startProxy } from './proxy-app.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
/** Longer than anything waits that is not about a deadline, on a machine that is busy with other things. */
const FAR_DEADLINES = { headersMs: 60_000, bodyMs: 60_000 };
/** Long enough for an answer that does come. */
const NEAR_DEADLINES = { headersMs: 1_000, bodyMs: 1_000 };
const MAX_ANSWER_BYTES = 1_000_000;

/** One byte every 20 ms, for as long as the connection is there. */
function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(at++ % text.length)), 20);
  socket.on('close', () => clearInterval(timer));
}

/** Sends as much as the other side takes, up to 10 GB. */
function flood(socket: Socket): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let left = 10_000_000_000;
  const more = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= chunk.length;
      if (!socket.write(chunk)) {
        socket.once('drain', more);
        return;
      }
    }
  };
  more();
}

const FAILURES: readonly (readonly [string, number, (socket: Socket) => void])[] = [
  [
    'sends 103 without end',
    504,
    (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    },
  ],
  [
    'switches to another protocol',
    502,
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  ],
  ['sends 100 Continue unasked', 502, (socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${HEAD}Content-Length: 2\r\n\r\n{}`)],
  ['resets the connection', 502, (socket) => socket.resetAndDestroy()],
  ['closes the connection without a word', 502, (socket) => socket.end()],
  ['never answers', 504, () => {}],
  [
    'sends its headers byte by byte',
    504,
    (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'),
  ],
  [
    'sends its body byte by byte',
    504,
    (socket) => {
      socket.write(`${HEAD}Content-Length: 100000\r\n\r\n`);
      drip(socket, ' ');
    },
  ],
  ['stops in the middle of its body', 504, (socket) => socket.write(`${HEAD}Content-Length: 100\r\n\r\n{"Id":`)],
  ['breaks off in the middle of its body', 502, (socket) => socket.end(`${HEAD}Content-Length: 100\r\n\r\n{"Id":`)],
  [
    'sends 10 GB of which it says so',
    502,
    (socket) => {
      socket.write(`${HEAD}Content-Length: 10000000000\r\n\r\n`);
      flood(socket);
    },
  ],
  [
    'sends 10 GB without an end',
    502,
    (socket) => {
      socket.write(`${HEAD}Connection: close\r\n\r\n`);
      flood(socket);
    },
  ],
  [
    'answers with a redirect',
    502,
    (socket) => socket.write('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/secret\r\nContent-Length: 0\r\n\r\n'),
  ],
  ['answers with bytes that are not HTTP', 502, (socket) => socket.end(Buffer.from([0, 255, 1, 254, 13, 10, 13, 10]))],
  ['answers with a status that is none', 502, (socket) => socket.write('HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\n{}')],
  [
    'answers with headers without end',
    502,
    (socket) => socket.write(`HTTP/1.1 200 OK\r\n${`X-Much: ${'y'.repeat(1000)}\r\n`.repeat(200)}`),
  ],
];

/** Fails if the text has a part of the upstream that a caller must never see. */
function expectNothingLeaked(text: string, upstreamUrl: string): void {
  for (const secret of [upstreamUrl.slice('http://'.length), '127.0.0.1', 'upstream-secret', 'UND_ERR', 'ECONN', 'location']) {
    expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
  }
}

function bodyOf(text: string): unknown {
  return text === '' ? '' : JSON.parse(text);
}

describe('an upstream that', () => {
  test.each(FAILURES)('%s ends in %i, and the connections are whole afterwards', async (_what, status, misbehave) => {
    let well = false;
    await using upstream = await socketUpstream((socket) => {
      if (well) socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
      else misbehave(socket);
    });
    const target = { url: upstream.url, headers: { accesskey: 'upstream-secret' } };
    const deadlines = status === 504 ? NEAR_DEADLINES : FAR_DEADLINES;
    await using proxy = await startProxy({ target, deadlines, maxAnswerBytes: MAX_ANSWER_BYTES, connections: 2 });
    // More than there are connections: one that is not given back is missed.
    const ids = [2, 9, 12, 13, 14];
    const answers = await Promise.all(ids.map((id) => send(proxy.url, exampleOf(id))));
    for (const [index, answer] of answers.entries()) {
      const text = await answer.text();
      expect(answer.status, text).toBe(status);
      expectAnswer(ids[index] ?? 0, status, bodyOf(text));
      expectNothingLeaked(`${text} ${JSON.stringify([...answer.headers])}`, upstream.url);
    }
    expect(proxy.log.join('')).not.toContain('already sent');
    // The log warns of it, and holds neither the address of the upstream nor the key.
    const warnings = proxy.log.filter((line) => line.includes('"level":40')).join('');
    expect(warnings).toMatch(new RegExp(`${operation(12).name}|invalid status code`));
    for (const secret of [new URL(upstream.url).host, 'upstream-secret', '/secret']) expect(proxy.log.join('')).not.toContain(secret);
    await eventually('broken connections are closed', () => upstream.connections() <= 2);
    well = true;
    for (let round = 0; round < 4; round += 1) {
      const answer = await send(proxy.url, exampleOf(2));
      expect([answer.status, await answer.text()]).toEqual([200, '{}']);
    }
  });

  test.each(EXAMPLE_REQUESTS)('refuses connections ends in 502 in the shape of operation $id', async (example) => {
    await using proxy = await startProxy({ target: { url: CLOSED_PORT_URL } });
    const answer = await send(proxy.url, example);
    const text = await answer.text();
    expect(answer.status).toBe(502);
    expectAnswer(example.number, 502, bodyOf(text));
    expectNothingLeaked(text, CLOSED_PORT_URL);
  });

  test('of the database is out of reach ends in the bare JSON type, which its clients insist on', async () => {
    await using proxy = await startProxy({ target: { url: CLOSED_PORT_URL } });
    const answer = await send(proxy.url, exampleOf(14));
    const message = 'The upstream could not be reached';
    expect([answer.headers.get('content-type'), await answer.json()]).toEqual([
      'application/json',
      { error: message, message, code: 'UPSTREAM_UNREACHABLE' },
    ]);
  });

  test('takes a connection and never says a word of TLS ends in 504, long before the deadline of its answer', async () => {
    await using upstream = await socketUpstream(() => {});
    const target = { url: upstream.url.replace('http:', 'https:') };
    await using proxy = await startProxy({ target, connectMs: 200, deadlines: { headersMs: 3_600_000, bodyMs: 300 } });
    const answer = await send(proxy.url, exampleOf(13));
    expect([answer.status, await answer.json()]).toEqual([504, { statusCode: 504 }]);
    await eventually('the connection is closed', () => upstream.connections() === 0);
  });

  test('has no address ends in 502', async () => {
    await using proxy = await startProxy({ target: { url: 'http://nowhere.invalid' } });
    const answer = await send(proxy.url, exampleOf(4));
    const text = await answer.text();
    expect([answer.status, JSON.parse(text)]).toEqual([
      502,
      { ErrorKey: 'upstream.unreachable', Field: null, Message: expect.any(String) },
    ]);
    expect(text).not.toContain('nowhere');
  });

  test('is busy is asked once, and its answer handed on', async () => {
    await using upstream = await recordingUpstream((_request, response) => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '7' }).end('{"busy":true}');
    });
    await using proxy = await startProxy({ target: { url: upstream.url } });
    const answer = await send(proxy.url, exampleOf(10));
    expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([503, '7', '{"busy":true}']);
    expect(upstream.seen).toHaveLength(1);
  });

  test.each([
    [4, 1],
    [6, 1],
    [8, 1],
    [14, 1],
    [2, 2],
    [11, 2],
  ])('breaks off is sent operation %i %i time(s): only what is idempotent is sent again', async (id, times) => {
    let requests = 0;
    await using upstream = await socketUpstream((socket, request) => {
      if (/^[A-Z]+ \//.test(request)) requests += 1;
      socket.destroy();
    });
    await using proxy = await startProxy({ target: { url: upstream.url } });
    const answer = await send(proxy.url, exampleOf(id));
    expect(answer.status).toBe(502);
    expect(requests).toBe(times);
  });
});

/** Ways of keeping a connection waiting, none of which may hold it after the caller went away. */
const WAITING: readonly (readonly [string, (socket: Socket) => void])[] = [
  ['before it answers', () => {}],
  [
    'while it answers',
    (socket) => {
      socket.write(`${HEAD}Content-Length: 100000\r\n\r\n`);
      drip(socket, ' ');
    },
  ],
];

test.each(WAITING)('a caller who goes away takes the upstream request along %s', async (_what, misbehave) => {
  await using upstream = await socketUpstream(misbehave);
  // It is not the deadline that closes the connection.
  await using proxy = await startProxy({ target: { url: upstream.url }, deadlines: { headersMs: 3_600_000, bodyMs: 3_600_000 } });
  const caller = new AbortController();
  const asked = fetch(`${proxy.url}/mc/nodes`, { signal: caller.signal });
  await eventually('the upstream is asked', () => upstream.connections() === 1);
  caller.abort();
  await expect(asked).rejects.toThrow();
  await eventually('the connection is closed', () => upstream.connections() === 0);
});

test('waiting for a free connection counts towards the deadline', async () => {
  let requests = 0;
  await using upstream = await socketUpstream(() => {
    requests += 1;
  });
  await using proxy = await startProxy({ target: { url: upstream.url }, deadlines: { headersMs: 300, bodyMs: 300 }, connections: 1 });
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(proxy.url, exampleOf(11))));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 504));
  // The requests that waited for the first to fail have no time left to be sent.
  expect(requests).toBeLessThan(8);
});
