import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTokenStore } from '../../../edge/local/database/access-tokens.ts';
import { operation } from '../../../edge/operations/operations.ts';
import { EXAMPLE_REQUESTS, exampleOf, send } from '../../edge/example-requests.ts';
import { expectAnswer } from '../../edge/schema-check.ts';
import { type RecordingUpstream, recordingUpstream } from '../../edge/upstreams.ts';
import { eventLine, ingest } from '../running-app.ts';
import { type RunningProgram, startWhole } from './running-program.ts';

async function bodyOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  return text === '' ? '' : JSON.parse(text);
}

const COMPLETE_CERTIFICATE = 7;

/** Returns the status with which a fresh program answers an example. The example of the database is sent without a token. */
const freshStatus = (number: number): number => (operation(number).key === 'bearer' ? 401 : operation(number).status);

describe('a program without upstreams', () => {
  let program: RunningProgram;
  beforeAll(async () => {
    program = await startWhole();
  });
  afterAll(async () => program[Symbol.asyncDispose]());

  test.each(EXAMPLE_REQUESTS)('answers operation $number itself', async (example) => {
    // A certificate is completed after its challenge was requested.
    if (example.number === COMPLETE_CERTIFICATE) await send(program.url, exampleOf(COMPLETE_CERTIFICATE - 1));
    const answer = await send(program.url, example);
    const body = await bodyOf(answer);
    expect(answer.status, JSON.stringify(body)).toBe(freshStatus(example.number));
    expectAnswer(example.number, answer.status, body);
  });

  test('shows itself as an application: its own requests, memory and processor', async () => {
    await send(program.url, exampleOf(10));
    const overview = (await bodyOf(await send(program.url, { ...exampleOf(10), path: '/mc/apps/shieldlog/overview' }))) as {
      averageRAM: { indicator: number };
      regions: [{ requests: number; anycastTraffic: number }];
    };
    const [region] = overview.regions;
    expect(overview).toMatchObject({ status: 'active', currentLatency: { indicator: expect.any(Number) } });
    expect(region.requests).toBeGreaterThan(0);
    expect(region.anycastTraffic).toBeGreaterThan(100);
    expect(overview.averageRAM.indicator).toBeGreaterThan(0);
    expect(overview.averageRAM.indicator).toBeLessThanOrEqual(100);
  });

  test('counts the API Guardian events it has stored, of that zone and feature only', async () => {
    const event = (rest: object): string => eventLine({ shieldZoneId: 61, feature: 'api-guardian', ...rest });
    const lines = [
      event({ action: 'blocked', ruleId: 'ag-schema' }),
      event({ action: 'Blocked', ruleId: 'ag-schema', feature: 'API-Guardian' }),
      event({ action: 'logged', ruleId: 'ag-auth' }),
      event({ action: 'blocked', ruleId: 'ag-rate-limit' }),
      event({ action: 'allowed', ruleId: 'other' }),
      event({ action: 'blocked', ruleId: 'ag-schema', feature: 'waf' }),
      event({ action: 'blocked', ruleId: 'ag-schema', shieldZoneId: 62 }),
    ];
    expect((await ingest(program, lines.join(''))).status).toBe(202);
    const answer = await send(program.url, { ...exampleOf(13), path: '/shield/metrics/shield-zone/61/api-guardian' });
    const { data } = (await answer.json()) as { data: { overviewPastTwentyEightDays: Record<string, { requestsInspected: number }> } };
    expect(data).toMatchObject({
      totalRequestsInspected: 5,
      totalBlockedRequests: 3,
      totalLoggedRequests: 1,
      totalRateLimited: 1,
      totalFailedRequestValidation: 2,
      totalFailedAuthenticationEnforcement: 1,
    });
    const days = Object.entries(data.overviewPastTwentyEightDays);
    expect(days).toHaveLength(28);
    expect(days.map(([, day]) => day.requestsInspected).reduce((sum, count) => sum + count, 0)).toBe(5);
  });

  test('runs SQL for those who have a token of its database', async () => {
    const store = openTokenStore(program.dataDir, Date.now);
    const token = store.generate().find(({ kind }) => kind === 'full-access')?.token;
    store.close();
    const answer = await send(program.url, exampleOf(14), { authorization: `Bearer ${token}` });
    const body = await bodyOf(answer);
    expect(answer.status, JSON.stringify(body)).toBe(200);
    expectAnswer(14, 200, body);
  });

  test('says 405 with the methods there are', async () => {
    const answer = await fetch(`${program.url}/dnszone`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('refuses pages of other sites in the shape of the operation', async () => {
    const answer = await send(program.url, exampleOf(8), { origin: 'https://evil.example' });
    expect([answer.status, await answer.json()]).toMatchObject([403, { ErrorKey: 'access.foreign_page' }]);
  });
});

const PLAIN = 'plain-plain-plain-1';
const PERSONAL = 'personal-personal-2';
const DATABASE = 'database-database-3';
const KEYS = `plain:${PLAIN}:7,mine:${PERSONAL}:8:personal,base:${DATABASE}:8:database`;

describe('a program with keys and upstreams', () => {
  let upstream: RecordingUpstream;
  let dns: RecordingUpstream;
  let program: RunningProgram;
  beforeAll(async () => {
    const echo = (name: string): Promise<RecordingUpstream> =>
      recordingUpstream((_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(`{"from":"${name}"}`));
    upstream = await echo('upstream');
    dns = await echo('dns');
    program = await startWhole({
      ACCESS_KEYS: KEYS,
      UPSTREAM_URL: upstream.url,
      UPSTREAM_URL_OVERRIDES: `4=${dns.url},11=local`,
      UPSTREAM_ACCESS_KEY: 'the-upstream-key',
      SERVICE_DATABASE_URL: `${upstream.url}/db`,
      SERVICE_DATABASE_AUTH_TOKEN: 'the-database-token',
    });
  });
  afterAll(async () => {
    await program[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await dns[Symbol.asyncDispose]();
  });

  test("hands an upstream's page on under a policy that lets a browser run nothing of it", async () => {
    const markup = '<script>steal()</script>';
    await using hostile = await recordingUpstream((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': "default-src 'unsafe-inline'" }).end(markup),
    );
    await using handing = await startWhole({ UPSTREAM_URL: hostile.url });
    const answer = await send(handing.url, exampleOf(12));
    const { headers } = answer;
    expect([headers.get('content-type'), await answer.text()]).toEqual(['text/html', markup]);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each([
    ['no key', {}, 401],
    ['an unknown key', { accesskey: 'unknown-unknown-unknown' }, 401],
  ])('answers every operation with 401 in its shape for %s', async (_what, headers, status) => {
    for (const example of EXAMPLE_REQUESTS) {
      const answer = await send(program.url, example, headers as Record<string, string>);
      expect(answer.status, `operation ${example.number}`).toBe(status);
      expectAnswer(example.number, status, await bodyOf(answer));
    }
  });

  test.each([
    [2, PLAIN, 200],
    [6, PLAIN, 200],
    [9, PLAIN, 403],
    [10, PLAIN, 403],
    [11, PLAIN, 403],
    [9, PERSONAL, 200],
    [11, PERSONAL, 200],
    [12, PLAIN, 200],
    [3, PERSONAL, 403],
    [5, PERSONAL, 403],
    [12, PERSONAL, 403],
    [13, PERSONAL, 403],
  ])('answers operation %i to the key %s with %i', async (id, accesskey, status) => {
    const answer = await send(program.url, exampleOf(id), { accesskey });
    const body = await bodyOf(answer);
    expect(answer.status, JSON.stringify(body)).toBe(status);
    if (status === 403) expectAnswer(id, 403, body);
  });

  test.each([
    [{}, 401],
    [{ authorization: 'Bearer unknown-unknown-unknown' }, 401],
    [{ authorization: `Bearer ${PLAIN}` }, 403],
    [{ authorization: `Bearer ${DATABASE}` }, 200],
    [{ accesskey: DATABASE }, 401],
  ])('lends its database token to %j with %i', async (headers, status) => {
    const answer = await send(program.url, exampleOf(14), headers as Record<string, string>);
    expect(answer.status).toBe(status);
    const body = await bodyOf(answer);
    if (status !== 200) expectAnswer(14, status, body);
  });

  test('sends its own credentials upstream and none of the callers', async () => {
    const before = upstream.seen.length;
    await send(program.url, exampleOf(2), { accesskey: PLAIN, authorization: 'Bearer x' });
    await send(program.url, exampleOf(14), { authorization: `Bearer ${DATABASE}`, accesskey: DATABASE });
    const [management, database] = upstream.seen.slice(before);
    expect(management).toMatchObject({ url: '/compute/script/1/variables', headers: { accesskey: 'the-upstream-key' } });
    expect(management?.headers.authorization).toBeUndefined();
    expect(database).toMatchObject({ url: '/db/v2/pipeline', headers: { authorization: 'Bearer the-database-token' } });
    expect(database?.headers['accesskey']).toBeUndefined();
  });

  test('asks another upstream, or the local control plane, where that is set for one operation', async () => {
    expect(await bodyOf(await send(program.url, exampleOf(4), { accesskey: PLAIN }))).toEqual({ from: 'dns' });
    expect(await bodyOf(await send(program.url, exampleOf(11), { accesskey: PERSONAL }))).toMatchObject({ meta: { totalItems: 48 } });
  });
});
