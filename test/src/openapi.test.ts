import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPENAPI_DOCUMENT } from '../../src/openapi-document.ts';
import { isDescribed } from './described.ts';
import { answerOn, openConnection } from './raw-connection.ts';
import { type Answer, ask, eventLine, lastHour, type RunningApp, startApp } from './running-app.ts';

const SEARCH = '/shield/event-logs/{shieldZoneId}/search';
const REPLAY = '/ingest/dead-letters/replay';
const INGEST = '/ingest/events';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ bodyDeadlineMs: 300 });
});

afterAll(() => app.stop());

async function post(path: string, body: string | undefined, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const url = path.replace('{shieldZoneId}', '7');
  return ask(app, url, { method: 'POST', headers, ...(body === undefined ? {} : { body: new TextEncoder().encode(body) }) });
}

describe('content types', () => {
  const bodies = { [SEARCH]: lastHour(), [REPLAY]: '{}', [INGEST]: '' };
  const paths = [SEARCH, REPLAY, INGEST] as const;
  const described = paths.flatMap((path) =>
    Object.keys(OPENAPI_DOCUMENT.paths[path].post.requestBody.content).map((type) => [path, type] as const),
  );

  test.each(described)('%s takes %s, as the document says', async (path, type) => {
    const answer = await post(path, bodies[path], { 'content-type': type.replace('*', 'vnd.example') });
    expect(answer.status).toBeLessThan(300);
  });

  test.each(paths)('%s takes no other, and names those of the document', async (path) => {
    const { status, body } = await post(path, bodies[path], { 'content-type': 'text/csv' });
    const types = Object.keys(OPENAPI_DOCUMENT.paths[path].post.requestBody.content).join(', ');
    expect([status, body.detail]).toEqual([415, `Content-Type: text/csv is not supported; allowed: ${types}`]);
  });

  test('may be left out by uploads only', async () => {
    expect((await post(INGEST, eventLine(), {})).status).toBe(202);
    for (const path of [SEARCH, REPLAY] as const) expect((await post(path, bodies[path], {})).status).toBe(415);
  });
});

describe('query parameters', () => {
  const { parameters } = OPENAPI_DOCUMENT.paths['/ingest/dead-letters'].get;

  test.each(parameters.map(({ name, schema }) => [name, schema as { readonly minimum?: number; readonly maximum?: number }] as const))(
    '%s ends where the document says',
    async (name, { minimum = Number.NaN, maximum = Number.NaN }) => {
      const statuses = [minimum - 1, minimum, maximum, maximum + 1].map(
        async (value) => (await ask(app, `/ingest/dead-letters?${name}=${value}`)).status,
      );
      expect(await Promise.all(statuses)).toEqual([400, 200, 200, 400]);
    },
  );
});

describe('refusals', () => {
  const huge = ' '.repeat(1024 * 1024 + 1);
  const json = { 'content-type': 'application/json' };
  test.each([
    [SEARCH, 400, '{}', json],
    [SEARCH, 406, lastHour(), { ...json, accept: 'text/html' }],
    [SEARCH, 413, huge, json],
    [SEARCH, 415, lastHour(), {}],
    [REPLAY, 400, '[', json],
    [REPLAY, 413, huge, json],
    [REPLAY, 415, '{}', {}],
    [INGEST, 400, '[', {}],
    [INGEST, 406, '', { accept: 'text/html' }],
    [INGEST, 413, `[${huge.repeat(65)}`, {}],
    [INGEST, 415, '', { 'content-type': 'text/csv' }],
  ] as const)('of %s with %i are described', async (path, status, body, headers) => {
    const answer = await post(path, body, headers);
    expect([answer.status, isDescribed('ProblemDetails', answer.body)]).toEqual([status, true]);
    expect(OPENAPI_DOCUMENT.paths[path].post.responses).toHaveProperty(String(status));
  });

  test.each([SEARCH, REPLAY, INGEST] as const)('of %s with 408 are described', async (path) => {
    const socket = await openConnection(app);
    const head = `POST ${path.replace('{shieldZoneId}', '7')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`;
    socket.write(head);
    const { body } = await answerOn(socket);
    expect([body.status, isDescribed('ProblemDetails', body)]).toEqual([408, true]);
    expect(OPENAPI_DOCUMENT.paths[path].post.responses).toHaveProperty('408');
  });
});
