import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { whenCallerLeaves } from '../../edge/leaving-callers.ts';

/** A response that is not written yet, and the connection of its caller. */
async function openResponse(): Promise<{ readonly response: ServerResponse; readonly caller: Socket }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void caller.destroy());
  caller.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { response, caller };
}

test('a caller that leaves before its answer is told of, once', async () => {
  const { response, caller } = await openResponse();
  let times = 0;
  whenCallerLeaves(response, () => {
    times += 1;
  });
  expect(times).toBe(0);
  caller.destroy();
  await once(response, 'close');
  expect(times).toBe(1);
});

test('a caller that has left already is told of at once', async () => {
  const { response, caller } = await openResponse();
  caller.destroy();
  await once(response, 'close');
  let times = 0;
  whenCallerLeaves(response, () => {
    times += 1;
  });
  expect(times).toBe(1);
});

test('a caller that leaves behind its answer is not told of', async () => {
  const { response } = await openResponse();
  let times = 0;
  whenCallerLeaves(response, () => {
    times += 1;
  });
  response.end('all of it');
  await once(response, 'close');
  expect(times).toBe(0);
});
