import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { openTokenStore } from '../../../edge/local/database/access-tokens.ts';
import { type ExampleRequest, exampleOf, send } from '../../edge/example-requests.ts';
import { petSpecification } from '../../edge/local/api-guardian/specification.ts';
import { expectAnswer } from '../../edge/schema-check.ts';
import { eventLine, ingest } from '../running-app.ts';
import { type RunningProgram, startWhole } from './running-program.ts';

/** A program whose own control plane answers. */
let local: RunningProgram;
/** Another such program, and one whose upstream it is. */
let upstream: RunningProgram;
let proxied: RunningProgram;
let tokens: ReadonlyMap<RunningProgram, string>;

function tokenOf({ dataDir }: RunningProgram): string {
  const store = openTokenStore(dataDir, Date.now);
  const token = store.generate().find(({ kind }) => kind === 'full-access')?.token ?? '';
  store.close();
  return token;
}

beforeAll(async () => {
  [local, upstream] = await Promise.all([startWhole(), startWhole()]);
  proxied = await startWhole({ UPSTREAM_URL: upstream.url, SERVICE_DATABASE_URL: upstream.url });
  // The database behind both is asked with its own tokens.
  tokens = new Map([
    [local, tokenOf(local)],
    [proxied, tokenOf(upstream)],
  ]);
  const events = ['blocked', 'logged', 'logged']
    .map((action) => eventLine({ feature: 'api-guardian', action, ruleId: 'ag-schema' }))
    .join('');
  for (const program of [local, upstream]) await ingest(program, events);
});
afterAll(async () => {
  for (const program of [proxied, upstream, local]) await program?.[Symbol.asyncDispose]();
});

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body: unknown;
}

const HEADERS = ['content-type', 'retry-after', 'www-authenticate', 'allow'];

async function ask(program: RunningProgram, request: ExampleRequest, headers: Readonly<Record<string, string>>): Promise<Seen> {
  const answer = await send(program.url, request, headers);
  const text = await answer.text();
  const body: unknown = text === '' ? '' : JSON.parse(text);
  expectAnswer(request.number, answer.status, body);
  return { status: answer.status, headers: Object.fromEntries(HEADERS.map((name) => [name, answer.headers.get(name)])), body };
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const GRADE = /^(couldBeBetter|notBad|doingGreat)$/;

/** Replaces values that differ between programs: times, random tokens and measurements. */
function masked(value: unknown, measured: boolean): unknown {
  if (measured && typeof value === 'string' && GRADE.test(value)) return 'a grade';
  if (typeof value === 'string')
    return TIME.test(value) ? 'a time' : value.replaceAll(/[\w-]{43}(?:\.[\w-]{43})?|[0-9a-f]{8}-[0-9a-f-]{27}/g, 'random');
  if (typeof value === 'number') return measured ? 'a measure' : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => masked(item, measured));
  const entries = Object.entries(value).map(([name, item]) => [
    TIME.test(name) ? 'a time' : name,
    masked(item, measured || name === 'query_duration_ms'),
  ]);
  return Object.fromEntries(entries);
}

const sql = (...texts: string[]): object => ({ requests: texts.map((text) => ({ type: 'execute', stmt: { sql: text } })) });

/** In this order: some live on what those before them did. */
const CALLS: readonly (readonly [what: string, request: Partial<ExampleRequest> & { readonly number: number }, measured?: boolean])[] = [
  ['a new variable', { number: 2, body: { Name: 'LEVEL', DefaultValue: 'é "\\ 😀' } }],
  ['the same variable', { number: 2, body: { Name: 'LEVEL', Required: true } }],
  ['a variable of no script', { number: 2, path: '/compute/script/99/variables' }],
  ['a variable without a name', { number: 2, body: {} }],
  ['a specification', { number: 3, body: { content: stringify(petSpecification()), enforceAuthorizationValidation: true } }],
  ['a specification that is none', { number: 3 }],
  [
    'a zone',
    {
      number: 4,
      body: {
        Domain: 'Exämple.com',
        Records: [
          { Name: 'www', Value: '192.0.2.1' },
          { Type: 3, Value: 'ü' },
        ],
      },
    },
  ],
  ['the zone again', { number: 4, body: { Domain: 'exämple.com' } }],
  ['a record that is wrong', { number: 4, body: { Domain: 'b.example', Records: [{ Type: 1, Value: '192.0.2.1' }] } }],
  ['an action', { number: 5 }],
  ['no action', { number: 5, body: { action: 0 } }],
  ['an action of no bot', { number: 5, path: '/shield/shield-zone/7/bot-categorization/bots/99' }],
  ['a challenge', { number: 6 }],
  ['a challenge of no hostname', { number: 6, body: { Hostname: 'no.example' } }],
  ['a certificate', { number: 7 }],
  ['a certificate without a challenge', { number: 7 }],
  ['a hostname that goes', { number: 8 }],
  ['a hostname that is gone', { number: 8 }],
  ['a hostname of no zone', { number: 8, path: '/pullzone/99/removeHostname' }],
  ['statistics', { number: 9, path: '/mc/apps/demo-shop/statistics?granularity=Daily&toDate=2030-01-01T00:00:00Z' }, true],
  ['statistics of a granularity that is none', { number: 9, path: '/mc/apps/demo-shop/statistics?granularity=daily' }],
  ['an overview', { number: 10 }, true],
  ['an overview of no application', { number: 10, path: '/mc/apps/nobody/overview' }],
  ['nodes', { number: 11, path: '/mc/nodes?limit=3' }],
  ['more nodes', { number: 11, path: '/mc/nodes?limit=3&nextCursor=bm9kZToz' }],
  ['nodes after no cursor', { number: 11, path: '/mc/nodes?nextCursor=x' }],
  ['an access list', { number: 12, path: '/shield/shield-zone/7/access-lists/10' }],
  ['an access list of another zone', { number: 12 }],
  ['metrics', { number: 13 }],
  ['metrics of no zone', { number: 13, path: '/shield/metrics/shield-zone/x/api-guardian' }],
  [
    'statements',
    {
      number: 14,
      body: sql('CREATE TABLE item (id INTEGER PRIMARY KEY)', 'INSERT INTO item VALUES (9007199254740993)', 'SELECT * FROM item', 'x'),
    },
  ],
  ['a pipeline that is none', { number: 14, body: { requests: 1 } }],
];

describe('behind a proxy, the control plane of another program answers as one of its own does', () => {
  test.each(CALLS.map(([what, request, measured = false]) => [what, request, measured] as const))(
    '%s',
    async (_what, request, measured) => {
      const [own, others] = await Promise.all(
        [local, proxied].map((program) =>
          ask(program, { ...exampleOf(request.number), ...request }, { authorization: `Bearer ${tokens.get(program)}` }),
        ),
      );
      expect({ ...others, body: masked(others?.body, measured) }).toEqual({ ...own, body: masked(own?.body, measured) });
    },
  );

  test('also to those who have no token of its database', async () => {
    const [own, others] = await Promise.all([local, proxied].map((program) => ask(program, exampleOf(14), {})));
    expect(own).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(others).toEqual(own);
  });

  test('and nothing of it is kept in the program before it', async () => {
    const before = await ask(local, { ...exampleOf(2), body: { Name: 'LEVEL' } }, {});
    const behind = await ask(upstream, { ...exampleOf(2), body: { Name: 'LEVEL' } }, {});
    expect(behind).toEqual(before);
    await using alone = await startWhole();
    const fresh = await ask(alone, { ...exampleOf(2), body: { Name: 'LEVEL' } }, {});
    expect(fresh.body).not.toEqual(before.body);
  });
});
