import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ask, ingest, startApp } from '../running-app.ts';

/** A connection that asks for the list of all dead letters and reads the beginning of the answer. Resolves with its status. */
async function askAndReadNothing(url: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write('GET /ingest/dead-letters HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'readable');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(socket.read(16)))?.[1]);
}

test('lists that nobody reads take what answers of searches may, and then further ones are refused, but for short ones', async () => {
  const app = await startApp({ env: { MEMORY_LIMIT_MB: '256' } });
  onTestFinished(() => app.stop());
  await ingest(app, 'short\n');
  for (let sent = 0; sent < 4; sent += 1)
    await ingest(app, Array.from({ length: 10 }, (_, index) => `${sent} ${index} ${'x'.repeat(1_000_000)}\n`).join(''));
  const statuses: number[] = [];
  while (statuses.length < 64 && statuses.at(-1) !== 503) statuses.push(await askAndReadNothing(app.url));
  expect(new Set(statuses.slice(0, -1))).toEqual(new Set([200]));
  const refused = await ask(app, '/ingest/dead-letters');
  expect([refused.status, refused.body.errorKey, refused.headers.get('retry-after')]).toEqual([503, 'store.busy', '5']);
  const short = await ask(app, '/ingest/dead-letters?limit=1');
  expect([short.status, short.body.deadLetters.length, short.body.nextAfterId !== null]).toEqual([200, 1, true]);
});

test.each([
  [0, 100, 0, false],
  [99, 100, 99, false],
  [100, 100, 100, false],
  [101, 100, 100, true],
  [101, 101, 101, false],
  [250, 249, 249, true],
  [250, 250, 250, false],
  [3, 1, 1, true],
])('of %i letters a list with limit=%i has %i, and says whether there are more', async (there, limit, listed, hasMore) => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  await ingest(app, Array.from({ length: there }, (_, index) => `no event ${index}\n`).join(''));
  const { body } = await ask(app, `/ingest/dead-letters?limit=${limit}`);
  expect([body.deadLetters.length, body.nextAfterId]).toEqual([listed, hasMore ? body.deadLetters.at(-1).id : null]);
});
