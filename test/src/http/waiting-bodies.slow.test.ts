import type { Socket } from 'node:net';
import { constants, createZstdCompress, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openTokenStore } from '../../../edge/local/database/access-tokens.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { openConnection } from './raw-connection.ts';

const KIB = 1024;
const CAPACITY_BYTES = 256 * KIB;
/** Of each body that waits. */
const LENGTH = 100_000;
const KEYS = { hostile: 'hostile-key-of-16', reader: 'reader-key-of-16!', sender: 'sender-key-of-16!' };

let app: RunningApp;
let databaseToken = '';

beforeAll(async () => {
  const keys = `hostile:${KEYS.hostile}:*,reader:${KEYS.reader}:*:read,sender:${KEYS.sender}:*:ingest`;
  app = await startApp({ bodyMemoryBytes: CAPACITY_BYTES, hasEdge: true, env: { ACCESS_KEYS: keys } });
  const tokens = openTokenStore(app.dataDir, Date.now);
  databaseToken = tokens.generate()[0]?.token ?? '';
  tokens.close();
});

afterAll(() => app.stop());

const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await eventually('nothing is under way', () => app.app.underWay().length === 0);
});

/** A body whose end does not come. */
interface Waiting {
  readonly path: string;
  readonly type?: string;
  readonly encoding?: string;
  /** Where it is no access key. */
  readonly authorization?: () => string;
  readonly sent: Uint8Array | string;
}

/** A frame of zstd without its end, which refers back to 128 KiB. */
async function frameWithWindow(): Promise<Buffer> {
  const stream = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 17 } });
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  await new Promise<void>((resolve) => stream.write(eventLine(), () => stream.flush(constants.ZSTD_e_flush, () => resolve())));
  return Buffer.concat(pieces);
}

const BLANKS = ' '.repeat(LENGTH - 1);
const JSON_BODY = { sent: BLANKS, type: 'application/json' };
const LONG_LOG = eventLine({ log: { text: 'x'.repeat(LENGTH) } });
const UPLOAD = '/ingest/events';
const WAITING: Readonly<Record<string, Waiting>> = {
  search: { ...JSON_BODY, path: '/shield/event-logs/7/search' },
  explore: { ...JSON_BODY, path: '/shield/event-logs/all/explore' },
  export: { ...JSON_BODY, path: '/shield/event-logs/all/export' },
  replay: { ...JSON_BODY, path: '/ingest/dead-letters/replay' },
  discard: { ...JSON_BODY, path: '/ingest/dead-letters/discard' },
  skip: { ...JSON_BODY, path: '/ingest/kafka/skip' },
  rewind: { ...JSON_BODY, path: '/ingest/kafka/rewind' },
  backup: { ...JSON_BODY, path: '/backup' },
  'a management operation': { ...JSON_BODY, path: '/dnszone' },
  'a pipeline': { ...JSON_BODY, path: '/v2/pipeline', authorization: () => `Bearer ${databaseToken}` },
  'a line': { path: UPLOAD, sent: LONG_LOG.slice(0, -3) },
  'an element of an array': { path: UPLOAD, sent: `[${LONG_LOG.slice(0, -3)}` },
  'an object that goes over lines': { path: UPLOAD, type: 'application/json', sent: `{\n${LONG_LOG.slice(1, -3)}\n` },
  'a line in gzip': { path: UPLOAD, encoding: 'gzip', sent: gzipSync(LONG_LOG, { level: 0 }).subarray(0, -9) },
  'a decoder of gzip': { path: UPLOAD, encoding: 'gzip', sent: gzipSync(eventLine()).subarray(0, -9) },
  'rejected events': { path: UPLOAD, sent: 'x\n'.repeat(2_000) },
};
const NAMES = Object.keys(WAITING);

interface Asked {
  readonly socket: Socket;
  /** What came so far. */
  readonly answer: () => string;
}

async function begin(
  { path, type = 'application/x-ndjson', encoding, authorization, sent }: Waiting,
  key: string,
  framing: string,
): Promise<Asked> {
  const socket = await openConnection(app);
  sockets.add(socket);
  let answer = '';
  socket.on('data', (bytes) => {
    answer += String(bytes);
  });
  socket.on('error', () => undefined);
  const bytes = Buffer.from(sent);
  const chunked = framing === 'in chunks';
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${LENGTH + bytes.length}`;
  const headers = [
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}`,
    authorization === undefined ? `AccessKey: ${key}` : `Authorization: ${authorization()}`,
    ...(encoding === undefined ? [] : [`Content-Encoding: ${encoding}`]),
    length,
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n`);
  if (chunked) socket.write(`${bytes.length.toString(16)}\r\n`);
  socket.write(bytes);
  return { socket, answer: () => answer };
}

/** Begins bodies of the hostile key until one of them is refused. */
async function fill(waiting: Waiting, framing = 'of a length'): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (let index = 0; index < 12; index += 1) asked.push(await begin(waiting, KEYS.hostile, framing));
  await eventually('a body is refused', () => asked.some(({ answer }) => answer().includes('\r\n\r\n{')));
  return asked;
}

const isOpen = ({ answer }: Asked): boolean => answer() === '';

describe.each(['of a length', 'in chunks'])('bodies %s that wait for their end', (framing) => {
  test.each(NAMES)('of %s are refused where there are too many, and the others wait on', async (name) => {
    const asked = await fill(WAITING[name] as Waiting, framing);
    const refused = asked.filter((one) => !isOpen(one));
    for (const { answer } of refused) {
      expect(answer()).toMatch(/^HTTP\/1.1 503 /);
      expect(answer().toLowerCase()).toContain('\r\nretry-after: 5\r\n');
      expect(answer()).toContain('Too many bytes of requests wait for the rest of their bodies; try again later');
    }
    expect(refused.length).toBeLessThan(asked.length);
  });
});

test.each(NAMES)('%s of a hostile key stops no other caller', async (name) => {
  const asked = await fill(WAITING[name] as Waiting);
  const open = asked.filter(isOpen);
  expect((await search(app, lastHour().padEnd(80_000), { accesskey: KEYS.reader })).status).toBe(200);
  const line = eventLine({ logId: name, log: { text: 'x'.repeat(40_000) } });
  for (const [body, headers] of [
    [line, {}],
    [gzipSync(line, { level: 0 }), { 'content-encoding': 'gzip' }],
  ] as const) {
    expect((await ingest(app, body, { ...headers, accesskey: KEYS.sender })).body).toMatchObject({ accepted: 1 });
  }
  expect(open.length).toBeGreaterThan(0);
});

test('the newest body of the largest other caller makes room, and keeps what came of it before', async () => {
  const asked: Asked[] = [];
  const waiting = { path: UPLOAD, sent: `${eventLine({ logId: 'before' })}${LONG_LOG.slice(0, -3)}` };
  for (let index = 0; index < 2; index += 1) {
    asked.push(await begin(waiting, KEYS.hostile, 'in chunks'));
  }
  const other = await begin({ path: UPLOAD, sent: LONG_LOG.slice(0, -3) }, KEYS.sender, 'in chunks');
  await eventually('one is ended', () => asked.some((one) => one.answer().includes('\r\n\r\n{')));
  const ended = asked.find((one) => !isOpen(one));
  expect(ended?.answer()).toMatch(/^HTTP\/1.1 503 /);
  expect(ended?.answer()).toContain('The memory of this body was needed for another caller; send it again later');
  expect(ended?.answer()).toContain('1 events were stored');
  expect(isOpen(other)).toBe(true);
  expect(asked.filter(isOpen)).toHaveLength(1);
});

test('windows of zstd count', async () => {
  const asked = await fill({ path: UPLOAD, encoding: 'zstd', sent: await frameWithWindow() });
  for (const one of asked.filter((each) => !isOpen(each))) expect(one.answer()).toMatch(/^HTTP\/1.1 503 /);
});
