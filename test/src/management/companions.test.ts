import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleOf, send } from '../../edge/example-requests.ts';
import { CLOSED_PORT_URL, type RecordingUpstream, recordingUpstream } from '../../edge/upstreams.ts';
import { type RunningProgram, startWhole } from './running-program.ts';

const KEY = 'plain-plain-plain-1';
const DATABASE_KEY = 'data-data-data-data-1';

/** Asks like a client on the internet, with a Host and a path that `fetch` would not send. */
async function get(url: string, path: string, host: string): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const asked = request({ hostname, port, path, headers: { host } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

async function challengeOf(url: string): Promise<{ readonly FilePath: string; readonly FileContent: string }> {
  const answer = await send(url, exampleOf(6), { accesskey: KEY });
  return (await answer.json()) as { FilePath: string; FileContent: string };
}

describe('beside the operations, a program with keys', () => {
  let database: RecordingUpstream;
  let program: RunningProgram;
  beforeAll(async () => {
    database = await recordingUpstream((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":2,"of":"upstream"}'),
    );
    program = await startWhole({
      ACCESS_KEYS: `plain:${KEY}:7,data:${DATABASE_KEY}:7:database`,
      SERVICE_DATABASE_URL: `${database.url}/db`,
      SERVICE_DATABASE_AUTH_TOKEN: 'the-database-token',
    });
  });
  afterAll(async () => {
    await program[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  test('serves the file of a pending challenge to whoever asks, by whatever name, and no longer once it is answered', async () => {
    const { FilePath, FileContent } = await challengeOf(program.url);
    expect(await get(program.url, FilePath, 'www.example.com')).toEqual({ status: 200, text: FileContent });
    expect((await send(program.url, exampleOf(7), { accesskey: KEY })).status).toBe(200);
    expect((await get(program.url, FilePath, 'www.example.com')).status).toBe(404);
  });

  test.each(['unknown', '%2e%2e', '..', '.', '', 'a%2Fb', '..%2f..%2fdnszone', '%00', '%F0%9F%98%80', `${'x'.repeat(8_000)}`])(
    'has no file %j',
    async (token) => {
      const { status, text } = await get(program.url, `/.well-known/acme-challenge/${token}`, 'www.example.com');
      expect(status, text).toBe(404);
      expect(text).not.toMatch(/127\.0\.0\.1|secret/);
    },
  );

  test('asks the upstream database for its version of the protocol, in nobody’s name', async () => {
    const answer = await fetch(`${program.url}/v2`, { headers: { authorization: 'Bearer of-the-caller' } });
    expect([answer.status, await answer.json()]).toEqual([200, { version: 2, of: 'upstream' }]);
    const asked = database.seen.at(-1);
    expect([asked?.method, asked?.url, asked?.headers.authorization]).toEqual(['GET', '/db/v2', undefined]);
  });

  test.each([2, 3])('asks it about version %i at its own path', async (version) => {
    await fetch(`${program.url}/v${version}`);
    expect(database.seen.at(-1)?.url).toBe(`/db/v${version}`);
  });

  test('sends it pipelines and cursors of either version with its own token', async () => {
    for (const path of ['/v2/pipeline', '/v3/pipeline', '/v3/cursor']) {
      const body = path === '/v3/cursor' ? '{"batch":{"steps":[]}}' : '{"requests":[]}';
      const answer = await fetch(`${program.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${DATABASE_KEY}` },
        body: Buffer.from(body),
      });
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, '{"version":2,"of":"upstream"}']);
      const { url, headers } = database.seen.at(-1) ?? { url: null, headers: {} };
      expect([url, headers.authorization, headers['content-type']]).toEqual([
        `/db${path}`,
        'Bearer the-database-token',
        'application/json',
      ]);
    }
  });

  test('has no version in Protobuf, so that clients fall back', async () => {
    for (const path of ['/v3-protobuf', '/v3-protobuf/pipeline']) {
      expect((await fetch(`${program.url}${path}`, { headers: { accesskey: KEY } })).status).toBe(404);
    }
  });
});

test('a program without upstreams speaks for its own database, and serves its own challenges', async () => {
  await using program = await startWhole();
  for (const version of [2, 3]) expect(await (await fetch(`${program.url}/v${version}`)).json()).toEqual({ version });
  expect((await fetch(`${program.url}/v3-protobuf`)).status).toBe(404);
  const { FilePath, FileContent } = await challengeOf(program.url);
  expect(await (await fetch(`${program.url}${FilePath}`)).text()).toBe(FileContent);
});

test('a program without keys serves challenges under the names that they are for, and nothing else', async () => {
  await using program = await startWhole();
  const { FilePath, FileContent } = await challengeOf(program.url);
  expect(await get(program.url, FilePath, 'www.example.com')).toEqual({ status: 200, text: FileContent });
  expect((await get(program.url, '/.well-known/acme-challenge/unknown', 'www.example.com')).status).toBe(404);
  for (const path of ['/v2', '/healthz', '/mc/nodes', '/.well-known/other']) {
    expect([path, (await get(program.url, path, 'www.example.com')).status]).toEqual([path, 403]);
  }
});

/** The answer to the head of a request whose body never comes. */
async function answerToHead(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  const { hostname, port } = new URL(url);
  const asked = request({
    hostname,
    port,
    path: '/v2/pipeline',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': '8000000', ...headers },
  });
  asked.flushHeaders();
  try {
    return await new Promise((resolve, reject) => {
      asked.on('error', reject);
      asked.on('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
      });
    });
  } finally {
    asked.destroy();
  }
}

test.each([
  ['without a token', {}, 'TOKEN_MISSING'],
  ['with a token that is none', { authorization: 'Bearer sldb_full_nonsense' }, 'TOKEN_INVALID'],
])('nobody %s makes the program read a pipeline', async (_what, headers, code) => {
  await using program = await startWhole();
  const { status, body } = await answerToHead(program.url, headers as Record<string, string>);
  const sentence = expect.stringContaining('access token');
  expect([status, body]).toEqual([401, { error: sentence, message: sentence, code }]);
});

test('a database that is out of reach is told of in the shape of its operation', async () => {
  await using program = await startWhole({ SERVICE_DATABASE_URL: CLOSED_PORT_URL });
  const answer = await fetch(`${program.url}/v2`);
  expect([answer.status, await answer.json()]).toMatchObject([502, { code: 'UPSTREAM_UNREACHABLE' }]);
});
