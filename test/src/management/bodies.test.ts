import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BODY_MEMORY_BYTES, BodyMemory } from '../../../src/http/body-memory.ts';
import { edgeRoutes } from '../../../src/management/operation-routes.ts';
import { eventually } from '../../fixtures/eventually.ts';

const NO_UPSTREAM = {
  upstreamUrl: null,
  upstreamOverrides: null,
  upstreamAccessKey: null,
  serviceDatabaseUrl: null,
  serviceDatabaseAuthToken: null,
  accessKeys: [],
};

describe('a body of a management operation', () => {
  const log: string[] = [];
  let app: FastifyInstance;
  let port: number;

  beforeAll(async () => {
    app = fastify({ logger: { level: 'warn', stream: { write: (line: string) => log.push(line) } } });
    await app.register(edgeRoutes, {
      config: NO_UPSTREAM,
      local: () => ({ url: 'http://127.0.0.1:9', headers: {} }),
      bodies: new BodyMemory({ capacityBytes: BODY_MEMORY_BYTES, deadlineMs: 100, callerOf: ({ ip }) => ip }),
    });
    port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  afterAll(async () => {
    app.server.closeAllConnections();
    await app.close();
  });

  async function begun(headers: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`POST /dnszone HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n{"Dom`);
    return socket;
  }

  test('that never ends is answered with 408 in the shape of the operation', async () => {
    const socket = await begun('Content-Length: 100\r\n');
    let answer = '';
    socket.on('data', (bytes: Buffer) => {
      answer += bytes.toString();
    });
    await once(socket, 'close');
    expect(answer).toContain('HTTP/1.1 408');
    expect(answer).toContain('"ErrorKey":"request.timeout"');
  });

  test('whose caller goes away is no fault that is logged', async () => {
    const before = log.length;
    let closed = 0;
    app.server.on('connection', (accepted: Socket) => accepted.on('close', () => (closed += 1)));
    const socket = await begun('Transfer-Encoding: chunked\r\n');
    socket.resetAndDestroy();
    await eventually('the connection is gone', () => closed === 1);
    expect(log.slice(before)).toEqual([]);
  });
});
