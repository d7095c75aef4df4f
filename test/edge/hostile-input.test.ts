import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localResources } from '../../edge/local/control-plane.ts';
import { openTokenStore } from '../../edge/local/database/access-tokens.ts';
import { exampleOf } from './example-requests.ts';
import { type Answer, type Facade, startFacade } from './local/resource-calls.ts';

let facade: Facade;
let token: string;

beforeAll(async () => {
  facade = await startFacade(localResources({ challengeResolver: null }));
  const tokens = openTokenStore(facade.plane.dataDir, Date.now);
  token = tokens.generate()[0]?.token ?? '';
  tokens.close();
});
afterAll(async () => facade[Symbol.asyncDispose]());

/** Sent as it is; the answer has been held to the operation's schemas. */
const call = (number: number, body: string | undefined, path = exampleOf(number).path): Promise<Answer> =>
  facade.call({ number, method: exampleOf(number).method, path, body }, { authorization: `Bearer ${token}` });

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const conditions = (depth: number): string => `${'{"type":"not","cond":'.repeat(depth)}1${'}'.repeat(depth)}`;
const pipeline = (request: string): string => `{"requests":[${request}]}`;

/** The values are as deep as the operation's limit for bodies lets them be, and deeper than there is stack for. */
const DEEP: readonly (readonly [what: string, number: number, body: string, status: number])[] = [
  ['a name', 2, `{"Name":${lists(20_000)}}`, 400],
  ['a specification that is no text', 3, `{"content":${lists(20_000)}}`, 400],
  ['a specification in JSON', 3, JSON.stringify({ content: objects(20_000) }), 400],
  ['a specification in YAML', 3, JSON.stringify({ content: lists(20_000) }), 400],
  ['a specification in blocks of YAML', 3, JSON.stringify({ content: '- '.repeat(20_000) }), 400],
  ['a domain', 4, `{"Domain":${objects(20_000)}}`, 400],
  ['a record', 4, `{"Domain":"a.example","Records":[{"Value":${lists(20_000)}}]}`, 400],
  ['a property that nothing reads', 4, `{"Domain":"a.example","X":${lists(20_000)}}`, 400],
  ['an action', 5, `{"action":${objects(10_000)}}`, 400],
  ['a hostname', 6, `{"Hostname":${lists(20_000)}}`, 400],
  ['a hostname to be removed', 8, `{"Hostname":${lists(20_000)}}`, 400],
  ['a baton', 14, `{"baton":${lists(20_000)},"requests":[]}`, 400],
  ['a request', 14, pipeline(lists(20_000)), 400],
  ['a SQL text', 14, pipeline(`{"type":"execute","stmt":{"sql":${lists(20_000)}}}`), 400],
  ['an argument', 14, pipeline(`{"type":"execute","stmt":{"sql":"SELECT ?","args":[{"type":"text","value":${objects(20_000)}}]}}`), 400],
  [
    'a condition',
    14,
    pipeline(
      `{"type":"batch","batch":{"steps":[{"stmt":{"sql":"SELECT 1"}},{"stmt":{"sql":"SELECT 1"},"condition":${conditions(20_000)}}]}}`,
    ),
    400,
  ],
  [
    'a condition that is as deep as a body may be',
    14,
    pipeline(`{"type":"batch","batch":{"steps":[{"stmt":{"sql":"SELECT 1"}},{"stmt":{"sql":"SELECT 1"},"condition":${conditions(120)}}]}}`),
    200,
  ],
  ['an expression', 14, pipeline(`{"type":"execute","stmt":{"sql":"SELECT ${'('.repeat(20_000)}1${')'.repeat(20_000)}"}}`), 200],
];

test.each(DEEP)('%s nested without end is refused by operation %i in its own shape', async (_what, number, body, status) => {
  const answer = await call(number, body);
  expect(answer.status).toBe(status);
  if (number === 14 && status === 200) expect(answer.body.results[0].type).toBe('error');
  expect(JSON.stringify(answer.body).length).toBeLessThan(5_000);
});

const STRANGE: readonly (readonly [what: string, number: number, body: string, status: number])[] = [
  ['half of a surrogate pair as a name', 2, '{"Name":"\\ud800"}', 400],
  ['half of a surrogate pair as a value', 2, '{"Name":"A","DefaultValue":"x\\udc00"}', 400],
  ['half of a surrogate pair in a domain', 4, '{"Domain":"\\ud800.example"}', 400],
  ['half of a surrogate pair in a record', 4, '{"Domain":"a.example","Records":[{"Type":3,"Value":"\\ud800"}]}', 400],
  ['a byte order mark before the body', 2, '\ufeff{"Name":"A"}', 200],
  ['only a prototype', 2, '{"__proto__":{"Name":"A"}}', 400],
  ['a prototype beside a name', 2, '{"Name":"B","__proto__":{"Required":true}}', 200],
  ['only a prototype of a zone', 4, '{"__proto__":{"Domain":"a.example"}}', 400],
  ['only a prototype of a record', 4, '{"Domain":"a.example","Records":[{"__proto__":{"Value":"192.0.2.1"}}]}', 400],
  ['a prototype in a record', 4, '{"Domain":"a.example","Records":[{"Value":"192.0.2.1","__proto__":{"Type":1}}]}', 201],
  ['an action twice', 5, '{"action":9,"action":1}', 400],
  ['a hostname twice', 8, '{"Hostname":"","Hostname":"www.example.com"}', 400],
  ['an action beyond 32 bits', 5, '{"action":4294967297}', 400],
  ['an action beyond all numbers', 5, '{"action":1e999}', 400],
  ['two values', 2, '{"Name":"A"}{}', 400],
  ['a comma too many', 2, '{"Name":"A",}', 400],
];

test.each(STRANGE)('%s: operation %i', async (_what, number, body, status) => {
  const answer = await call(number, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  if (status === 200) expect(answer.body.Required).toBe(false);
});

describe('a SQL text or a value that UTF-8 cannot carry', () => {
  test.each([
    ['as a value', '{"sql":"SELECT ?","args":[{"type":"text","value":"\\ud800"}]}', 'requests[0].stmt.args[0].value is "\\ud800"'],
    ['as a SQL text', `{"sql":"SELECT '\\udfff'"}`, 'requests[0].stmt.sql is'],
  ])('%s is an error, not another text', async (_what, stmt, message) => {
    const { body } = await call(14, pipeline(`{"type":"execute","stmt":${stmt}}`));
    expect(body.results[0]).toMatchObject({ type: 'error', error: { code: 'REQUEST_INVALID', message: expect.stringContaining(message) } });
  });
});

describe('a hostname that a URL parser would make another of', () => {
  test.each([
    'www.example.com/x',
    'www.example.com:80',
    'www.example.com?x',
    'www.example.com#x',
    'www.example.com\\x',
    'u@www.example.com',
    'ww%77.example.com',
    'www.exam\tple.com',
    'www.exam\nple.com',
    'www.example.com\u0000',
    ' www.example.com',
    'www.example.com..',
    '*.*.blog.example.org',
  ])('%j is none of a pull zone', async (name) => {
    const body = JSON.stringify({ Hostname: name });
    expect((await call(6, body)).body.ErrorKey).toBe('hostname.not_found');
    expect((await call(8, body)).body.ErrorKey).toBe('pullZone.hostname_not_found');
  });

  test.each(['ｗｗｗ.example.com', 'www。example。com', 'WWW.EXAMPLE.COM.'])(
    '%j is www.example.com, as for every browser',
    async (name) => {
      expect((await call(6, JSON.stringify({ Hostname: name }))).status).toBe(200);
    },
  );
});

test.each(['toDate=2016-12-31T23:59:60Z', 'fromDate=2016-12-31T23:59:60Z'])('a leap second is no time of a chart: %s', async (window) => {
  const answer = await call(9, undefined, `/mc/apps/demo-shop/statistics?granularity=Daily&${window}`);
  expect([answer.status, answer.body.errors[0].field]).toEqual([400, window.split('=')[0]]);
});

test.each([
  ['9007199254740991', 404],
  ['9007199254740992', 400],
  ['9223372036854775807', 400],
  ['99999999999999999999', 400],
  ['1e0', 400],
  ['%00', 400],
  ['%D9%A1', 400],
])('the script %s is answered with %i', async (id, status) => {
  expect((await call(2, '{"Name":"A"}', `/compute/script/${id}/variables`)).status).toBe(status);
});
