import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { NativeRelay } from './native-relay.ts';

interface Sides {
  readonly relay: NativeRelay;
  /** Of a connection through the relay: the one who has made it, and the server that has got it. */
  readonly client: Socket;
  readonly target: Socket;
}

async function connected(): Promise<Sides> {
  const server = createServer({ allowHalfOpen: true });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const relay = await NativeRelay.open((server.address() as AddressInfo).port);
  const client = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true });
  const [target] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    client.destroy();
    target.destroy();
    relay.goAway();
    server.close();
  });
  return { relay, client, target };
}

test('bytes go both ways, until both sides have ended', async () => {
  const { client, target } = await connected();
  client.end('asked');
  expect(await text(target)).toBe('asked');
  target.end('answered');
  expect(await text(client)).toBe('answered');
});

test.each(['client', 'target'] as const)('of a %s that resets its connection the other side sees an end', async (breaking) => {
  const sides = await connected();
  const other = sides[breaking === 'client' ? 'target' : 'client'];
  other.write('something that is not read');
  sides[breaking].resetAndDestroy();
  expect(await text(other)).toBe('');
});

test('a relay that goes away ends connections whose bytes nobody reads, and refuses others until it comes back', async () => {
  const { relay, client, target } = await connected();
  const { port } = relay;
  // More than all buffers on the way have room for.
  for (const side of [client, target]) side.write(Buffer.alloc(16 * 1024 * 1024));
  relay.goAway();
  await Promise.all([text(client), text(target)]);
  await expect(once(connect({ port, host: '127.0.0.1' }), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await relay.comeBack();
  const again = connect({ port, host: '127.0.0.1' });
  await once(again, 'connect');
  again.destroy();
});
