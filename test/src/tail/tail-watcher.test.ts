import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { compileMatcher } from '../../../query/match/match-event.ts';
import { TailWatcher } from '../../../src/tail/tail-watcher.ts';
import { feedPosition } from '../../../store/embedded/feed/feed-positions.ts';

/** A watcher, and the answer that its client reads only where the test says so. */
async function watcherAndClient(): Promise<{
  readonly watcher: TailWatcher;
  readonly outlet: ServerResponse;
  readonly client: IncomingMessage;
}> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  onTestFinished(() => {
    request.destroy();
    server.close();
  });
  const [, outlet] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  outlet.flushHeaders();
  const [client] = (await once(request, 'response')) as [IncomingMessage];
  const position = feedPosition(0n);
  const watcher = new TailWatcher({
    zones: 'all',
    matcher: compileMatcher({ kind: 'everything' }),
    where: { kind: 'everything' },
    position,
    outlet,
    maxBufferedBytes: 1,
  });
  return { watcher, outlet, client };
}

const PAGE = Buffer.alloc(8 * 1024 * 1024, 'x');
const SIGN = Buffer.from(': alive\n\n');

test('a client that reads between the signs of life is not cut off, although more waits for it at each', async () => {
  const { watcher, outlet, client } = await watcherAndClient();
  for (let round = 0; round < 10; round += 1) {
    watcher.write([PAGE]);
    expect(outlet.writableNeedDrain).toBe(true);
    watcher.keepAlive(SIGN);
    client.resume();
    await watcher.drained();
    client.pause();
  }
  expect(watcher.gone.aborted).toBe(false);
});

test('a client that reads nothing between four of them is', async () => {
  const { watcher } = await watcherAndClient();
  watcher.write([PAGE]);
  for (let sign = 0; sign < 3; sign += 1) watcher.keepAlive(SIGN);
  expect(watcher.gone.aborted).toBe(false);
  watcher.keepAlive(SIGN);
  expect(watcher.gone.aborted).toBe(true);
});
