import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../edge/operations/operations.ts';
import { isDescribed } from '../openapi/described.ts';
import { type RunningProgram, startWhole } from './running-program.ts';

const KEY = 'k'.repeat(32);

let open: RunningProgram;
let locked: RunningProgram;

beforeAll(async () => {
  open = await startWhole();
  locked = await startWhole({ ACCESS_KEYS: `all:${KEY}:*` });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await locked[Symbol.asyncDispose]();
});

async function ask(path: string, method = 'GET', { url }: RunningProgram = open, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${url}${path}`, { method, headers, ...(method === 'POST' ? { body: '{' } : {}) });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}

/** The paths of the platform's interface that other programs ask for, and that are not here. */
const UNSERVED = [
  ['/shield/shield-zone/7', 'shield'],
  ['/shield/shield-zone/7/', 'shield'],
  ['/shield', 'shield'],
  ['/shield/', 'shield'],
  ['/shield/event-log/7/search', 'shield'],
  ['/shield//event-logs', 'shield'],
  ['/compute/script', 'compute'],
  ['/compute/script/1/variables/2?a=b', 'compute'],
  ['/dnszone/5', 'dnszone'],
  ['/dnszone/', 'dnszone'],
  [`/dnszone/${'7'.repeat(10_000)}`, 'dnszone'],
  ['/pullzone', 'pullzone'],
  ['/pullzone/5?per_page=5', 'pullzone'],
  ['/mc/apps', 'mc'],
  ['/storagezone', 'storagezone'],
  ['/storagezone/1/statistics', 'storagezone'],
  ['/videolibrary/3', 'videolibrary'],
] as const;

describe.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])('%s of a path of the platform', (method) => {
  test.each(UNSERVED)('that is not served is 501 at %s', async (path) => {
    const { status, headers, body } = await ask(path, method);
    expect([status, headers.get('cache-control')]).toEqual([501, 'no-store']);
    if (method === 'HEAD') return;
    expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(body).toMatchObject({ status: 501, errorKey: 'route.not_implemented', instance: path.split('?')[0] });
  });
});

test.each(UNSERVED)('%s is told which operations of its part are here', async (path, part) => {
  const { detail } = (await ask(path)).body;
  const operations = OPERATIONS.filter((row) => row.path.split('/')[1] === part).map((row) => `${row.method} ${row.path}`);
  for (const operation of operations) expect(detail).toContain(operation);
  expect(detail).toContain(operations.length === 0 ? `of /${part} there is nothing` : `of /${part} there are `);
  expect(detail).not.toContain('HEAD');
  expect(detail.includes('/shield/event-logs/:shieldZoneId/search')).toBe(part === 'shield');
});

test('a path that is not served takes one short line of the log, whatever its length', async () => {
  const { headers } = await ask(`/mc/${'x'.repeat(10_000)}`);
  const line = open.log.find(({ reqId }) => reqId === headers.get('x-request-id'));
  expect(line).toMatchObject({ msg: 'a request was refused', errorKey: 'route.not_implemented', method: 'GET' });
  expect(JSON.stringify(line)).not.toContain('stack');
  expect(JSON.stringify(line).length).toBeLessThan(1_000);
});

test('every operation of the management interface is in a part that is answered so', async () => {
  for (const { path } of OPERATIONS.filter(({ upstream }) => upstream !== 'database')) {
    expect((await ask(`${path.split('/', 2).join('/')}/nothing/here`)).status).toBe(501);
  }
});

test.each([
  '/nothing',
  '/shield/event-logs',
  '/shield/event-logs/',
  '/shield/event-logs/7/serach',
  '/Shield/shield-zone/7',
  '/shields',
  '/x/shield/7',
  '//shield',
  '/v2/nothing',
  '/database',
  '/apikey',
])('%s is no path of the platform, or one of ours: 404', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const { status, headers, body } = await ask(path, method);
    expect([status, headers.get('cache-control'), body.errorKey]).toEqual([404, null, 'route.not_found']);
  }
});

test.each([
  ['/dnszone', 'GET', 'POST'],
  ['/compute/script/1/variables', 'DELETE', 'PUT'],
  ['/shield/shield-zone/7/api-guardian/spec', 'GET', 'PATCH'],
  ['/mc/nodes', 'POST', 'GET'],
])('%s is served, and %s is not among its methods: 405', async (path, method, allow) => {
  const { status, headers, body } = await ask(path, method);
  expect([status, headers.get('allow'), body.errorKey]).toEqual([405, allow, 'route.method_not_allowed']);
});

test.each(['/storagezone/1', '/nothing'])('with access keys, %s is told to their holders alone', async (path) => {
  const known = path === '/nothing' ? 404 : 501;
  expect((await ask(path, 'GET', locked, { accesskey: KEY })).status).toBe(known);
  expect(await ask(path, 'GET', locked)).toMatchObject({ status: 401, body: { errorKey: 'access.key_missing' } });
  expect(await ask(path, 'GET', locked, { accesskey: 'wrong' })).toMatchObject({ status: 401, body: { errorKey: 'access.key_unknown' } });
});

test('its problem is described', async () => {
  expect(isDescribed('ProblemDetails', (await ask('/storagezone')).body)).toBe(true);
});
