import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../http/raw-connection.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const PATH = '/shield/event-logs/7/search';

/** An app with 40 events that take 900 kB each. */
async function appWithLargeEvents(): Promise<RunningApp> {
  const app = await startApp();
  onTestFinished(() => app.stop());
  const body = 'x'.repeat(900_000);
  for (let part = 0; part < 4; part += 1) {
    const lines = Array.from({ length: 10 }, (_, index) => eventLine({ logId: `e${part}-${index}`, log: { body } }));
    expect((await ingest(app, lines.join(''))).status).toBe(202);
  }
  await app.store.settle('flush');
  return app;
}

/** A client that takes the head of a page, and nothing more. */
async function unread(app: RunningApp) {
  const socket = await openConnection(app);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const body = lastHour();
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const [first] = await once(socket, 'data');
  socket.pause();
  expect(String(first)).toContain(' 200 OK');
  return socket;
}

test('a page of the largest rows is answered whole, while others do not read theirs', async () => {
  const app = await appWithLargeEvents();
  // More than may read at the same time.
  const readers = await Promise.all(Array.from({ length: 8 }, () => unread(app)));
  const answer = await search(app, lastHour());
  expect([answer.status, answer.body.total, answer.body.rows.length]).toEqual([200, 40, 40]);
  expect(answer.body.rows.every(({ log }: { log: { body: string } }) => log.body.length === 900_000)).toBe(true);
  expect((await ask(app, '/metrics')).text).toContain('shieldlog_reads_waiting 0\n');
  for (const socket of readers) socket.destroy();
});

test('a page that nobody reads on keeps no store open once its client is gone', async () => {
  const app = await appWithLargeEvents();
  const socket = await unread(app);
  socket.destroy();
  await app.app.close();
  // Waits for what reads its files.
  await app.store.close();
  expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
