import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { fetchLockedArtifacts } from './locked-artifacts.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, requests: number) => void;

/** A Maven repository on a loopback port. */
async function repository(answer: Answer): Promise<{ readonly host: string; readonly paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    answer(request, response, paths.length);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

function lockFile(entries: Readonly<Record<string, string>>): string {
  const path = join(temporaryFolder(), 'jars.txt');
  const lines = Object.entries(entries).map(([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
  writeFileSync(path, lines.join(''));
  return path;
}

const TWO = { 'org.example.one:first:1.2': 'the first', 'two:second_2.13:3': 'the second' };
const ANSWERS = {
  '/maven/org/example/one/first/1.2/first-1.2.jar': 'the first',
  '/maven/two/second_2.13/3/second_2.13-3.jar': 'the second',
};
const answerWell: Answer = ({ url = '' }, response) => response.end((ANSWERS as Record<string, string>)[url]);

it.each(['maven', 'maven/'])('what a lock file lists is downloaded once, into files named as in the repository %s', async (path) => {
  const { host, paths } = await repository(answerWell);
  const folder = join(temporaryFolder(), 'a', 'b');
  const expected = [join(folder, 'first-1.2.jar'), join(folder, 'second_2.13-3.jar')];
  for (const _ of ['the first time', 'again']) {
    expect(await fetchLockedArtifacts(lockFile(TWO), folder, `http://${host}/${path}`)).toEqual(expected);
  }
  expect(paths.toSorted()).toEqual(Object.keys(ANSWERS));
  expect(expected.map((file) => readFileSync(file, 'utf8'))).toEqual(['the first', 'the second']);
  expect(readdirSync(folder)).toHaveLength(2);
});

it.each([
  ['another content', answerWell, { 'two:second_2.13:3': 'what it was' }, /its SHA-256 is 066085a4\w+, not 2b13fd2d\w+$/],
  ['nothing', ((_request, response) => response.writeHead(404).end('none')) satisfies Answer, TWO, /the answer is 404$/],
])('an artifact of which the repository has %s is refused and leaves no file', async (_case, answer, lock, reason) => {
  const { host } = await repository(answer);
  const folder = temporaryFolder();
  const fetched = fetchLockedArtifacts(lockFile(lock), folder, `http://${host}/maven`);
  await expect(fetched).rejects.toThrow(new RegExp(`^\\S+:\\S+:\\S+ cannot be downloaded from http://${host}/maven/\\S+: `));
  await expect(fetched).rejects.toThrow(reason);
  expect(readdirSync(folder)).toEqual([]);
});

it('a download that is cut off in its middle is continued there', async () => {
  const ranges: unknown[] = [];
  const { host } = await repository(({ headers }, response) => {
    ranges.push(headers.range);
    if (headers.range === undefined) {
      response.writeHead(200, { etag: '"1"', 'content-length': '9' });
      response.write('the fir', () => response.destroy());
    } else {
      response.writeHead(206, { etag: '"1"', 'content-range': 'bytes 7-8/9' }).end('st');
    }
  });
  const folder = temporaryFolder();
  await fetchLockedArtifacts(lockFile({ 'org.example.one:first:1.2': 'the first' }), folder, `http://${host}/maven`);
  expect(ranges).toEqual([undefined, 'bytes=7-8']);
  expect(readFileSync(join(folder, 'first-1.2.jar'), 'utf8')).toBe('the first');
});

it('a download that is answered with 503 is tried again', async () => {
  const { host, paths } = await repository((request, response, requests) => {
    if (requests === 1) response.writeHead(503).end();
    else answerWell(request, response, requests);
  });
  const folder = temporaryFolder();
  await fetchLockedArtifacts(lockFile({ 'org.example.one:first:1.2': 'the first' }), folder, `http://${host}/maven`);
  expect(paths).toHaveLength(2);
  expect(readFileSync(join(folder, 'first-1.2.jar'), 'utf8')).toBe('the first');
});

it('the name and password in the address of a repository are sent, and told to nobody', async () => {
  const sent: unknown[] = [];
  const { host } = await repository(({ headers }, response) => {
    sent.push(headers.authorization);
    response.writeHead(401).end();
  });
  const fetched = fetchLockedArtifacts(lockFile({ 'a:b:1': '' }), temporaryFolder(), `http://me:s%2Fcret@${host}`);
  await expect(fetched).rejects.toThrow(`a:b:1 cannot be downloaded from http://${host}/a/b/1/b-1.jar: the answer is 401`);
  expect(sent).toEqual([`Basic ${Buffer.from('me:s/cret').toString('base64')}`]);
});

it('a line that cannot be read is named', async () => {
  const file = lockFile(TWO);
  writeFileSync(file, `${readFileSync(file, 'utf8')}abc  a:b:1\n`);
  await expect(fetchLockedArtifacts(file, temporaryFolder())).rejects.toThrow(
    `${file}, line 3 is "abc  a:b:1"; allowed: <SHA-256>  <group>:<artifact>:<version>`,
  );
});
