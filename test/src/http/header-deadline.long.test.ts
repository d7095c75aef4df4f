import { expect, test } from 'vitest';
import { startApp } from '../running-app.ts';
import { answerOn, openConnection } from './raw-connection.ts';

// Node looks for such clients every 30 s, so that this takes up to a minute and a half.
test('a client that does not finish its headers is told so, and its connection is closed', async () => {
  const app = await startApp();
  const socket = await openConnection(app);
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n');
  const { head, body } = await answerOn(socket);
  expect([head.split('\r\n', 1)[0], body.errorKey]).toEqual(['HTTP/1.1 408 Request Timeout', 'request.timeout']);
  await app.stop();
});
