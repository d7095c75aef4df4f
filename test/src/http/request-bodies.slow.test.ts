import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { eventLine, lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { answerOn, openConnection } from './raw-connection.ts';

const SEARCH = '/shield/event-logs/7/search';
const REPLAY = '/ingest/dead-letters/replay';
const INGEST = '/ingest/events';

let app: RunningApp;

afterEach(() => app.stop());

/** The head of a request whose body has more bytes than will ever be sent. */
const headOf = (path: string, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n${more}\r\n`;

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const errors = (): readonly unknown[] => app.log.filter(({ level }) => Number(level) >= 50);

describe('a client that goes away while it sends its body', () => {
  test.each([SEARCH, REPLAY, INGEST])('is nothing to log: %s', async (path) => {
    app = await startApp();
    const [begun, gone]: [string[], string[]] = [[], []];
    app.app.server.on('request', (request) => {
      begun.push(String(request.url));
      request.once('close', () => gone.push(String(request.url)));
    });
    const socket = await openConnection(app);
    socket.write(`${headOf(path)}{"from"`);
    await eventually('the request has begun', () => begun.includes(path));
    socket.destroy();
    await eventually('the request has ended', () => gone.includes(path));
    expect((await search(app, lastHour())).status).toBe(200);
    expect(errors()).toEqual([]);
  });
});

describe('a body that never arrives', () => {
  test.each([
    [SEARCH, '{"from"', 'the request body did not arrive whole within 150 ms'],
    [REPLAY, '', 'the request body did not arrive whole within 150 ms'],
    [INGEST, '', 'no byte of the request body came for 150 ms'],
  ])('ends %s with 408, and its connection', async (path, sent, detail) => {
    app = await startApp({ bodyDeadlineMs: 150 });
    const socket = await openConnection(app);
    socket.write(headOf(path) + sent);
    const { head, body } = await answerOn(socket);
    expect(head).toContain('HTTP/1.1 408 Request Timeout');
    expect(head.toLowerCase()).toContain('content-type: application/problem+json; charset=utf-8');
    expect(body).toMatchObject({ status: 408, errorKey: 'request.timeout', instance: path, detail: expect.stringContaining(detail) });
    expect(errors()).toEqual([]);
  });

  test.each([
    ['plain', '', (text: string) => Buffer.from(text)],
    ['gzip', 'Content-Encoding: gzip\r\n', (text: string) => gzipSync(text).subarray(0, -1)],
  ])('keeps what had come of an upload before it stalled, %s, and says so', async (_what, header, encode) => {
    app = await startApp({ bodyDeadlineMs: 600 });
    const socket = await openConnection(app);
    // At once: nothing of it stalls before it is read.
    const sent = encode(eventLine({ logId: 'a' }) + eventLine({ logId: 'b' }));
    socket.write(Buffer.concat([Buffer.from(headOf(INGEST, header)), sent]));
    const { head, body } = await answerOn(socket);
    expect(head).toContain('HTTP/1.1 408');
    expect(body.detail).toContain('2 events were stored');
    expect((await search(app, lastHour())).body.total).toBe(2);
  });

  test.each([
    ['plain', '', (text: string) => Buffer.from(text)],
    ['gzip', 'Content-Encoding: gzip\r\n', (text: string) => gzipSync(text, { level: 0 }).subarray(0, -1)],
  ])(
    'is one whose event of more than 16 KiB has no end for so long, however steadily its bytes come: %s',
    async (_what, header, encode) => {
      const bodyDeadlineMs = 1_000;
      app = await startApp({ bodyDeadlineMs });
      const socket = await openConnection(app);
      socket.write(`POST ${INGEST} HTTP/1.1\r\nHost: localhost\r\n${CHUNKED}${header}\r\n`);
      const bytes = encode(`${eventLine({ logId: 'a' })}{"ua":"${'x'.repeat(500_000)}`);
      const answered = answerOn(socket);
      const pace = setInterval(() => {
        const piece = bytes.subarray(sent, sent + 5_000);
        sent += piece.length;
        if (!socket.writableEnded)
          socket.write(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]));
      }, bodyDeadlineMs / 20);
      let sent = 0;
      const { head, body } = await answered;
      clearInterval(pace);
      expect(head).toContain('HTTP/1.1 408');
      expect(body.detail).toContain(`an event of more than 16384 bytes did not arrive whole within ${bodyDeadlineMs} ms`);
      expect(body.detail).toContain('1 events were stored');
    },
  );

  test('is not one that comes slowly but steadily, however long it takes', async () => {
    const bodyDeadlineMs = 1_500;
    app = await startApp({ bodyDeadlineMs });
    const socket = await openConnection(app);
    socket.write(`POST ${INGEST} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${CHUNKED}\r\n`);
    const began = performance.now();
    let sent = 0;
    for (; performance.now() - began < 1.5 * bodyDeadlineMs; sent += 1) {
      socket.write(chunk(eventLine({ logId: `e${sent}` })));
      // The pace of the client, not a wait for the program.
      await pause(bodyDeadlineMs / 10);
    }
    socket.write(chunk(''));
    const { head } = await answerOn(socket);
    expect(head).toContain('HTTP/1.1 202 Accepted');
    expect((await search(app, lastHour())).body.total).toBe(sent);
  });
});

describe('a body without a length', () => {
  test('that becomes longer than is allowed is refused: 413', async () => {
    app = await startApp();
    const socket = await openConnection(app);
    socket.write(`POST ${SEARCH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${CHUNKED}\r\n`);
    socket.write(chunk(' '.repeat(1024 * 1024 + 1)));
    const { head, body } = await answerOn(socket);
    expect(head).toContain('HTTP/1.1 413');
    expect(body.errorKey).toBe('body.too_large');
  });

  test('is read like any other', async () => {
    app = await startApp();
    const socket = await openConnection(app);
    socket.write(`POST ${SEARCH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n${CHUNKED}\r\n`);
    const body = lastHour();
    socket.write(chunk(body.slice(0, 10)) + chunk(body.slice(10)) + chunk(''));
    expect((await answerOn(socket)).head).toContain('HTTP/1.1 200');
    if (!socket.destroyed) await once(socket, 'close');
  });
});

describe('a body that breaks the rules of its transfer', () => {
  test.each([SEARCH, REPLAY, INGEST])('is answered once, with ProblemDetails: %s', async (path) => {
    app = await startApp();
    for (const bytes of [`${chunk('{"from":1')}zz\r\n`, '7fffffffffffffffffff\r\n']) {
      const socket = await openConnection(app);
      socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${CHUNKED}\r\n${bytes}`);
      const { head, body } = await answerOn(socket);
      expect(head).toContain('HTTP/1.1 400 Bad Request');
      expect(body.errorKey).toBe('request.malformed');
    }
    expect(errors()).toEqual([]);
  });
});
