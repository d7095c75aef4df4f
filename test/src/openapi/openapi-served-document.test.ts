import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, ingest } from '../running-app.ts';
import { DESCRIBED_OPERATIONS, type DescribedOperation } from './document-check.ts';
import { documentedCall } from './documented-call.ts';
import { type Call, send } from './driven-answer.ts';
import { type Site, startSite } from './site.ts';

const HOUR_MS = 3_600_000;
const KEY = 'key-of-every-zone-1';

interface Document {
  readonly security?: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

let open: Site;
let keyedOnLoopback: Site;
let keyedElsewhere: Site;

beforeAll(async () => {
  open = await startSite();
  keyedOnLoopback = await startSite({ ACCESS_KEYS: `all:${KEY}:*:personal+database` });
  keyedElsewhere = await startSite({ HOST: '0.0.0.0', ACCESS_KEYS: `all:${KEY}:*:personal+database` });
});

afterAll(async () => {
  for (const site of [open, keyedOnLoopback, keyedElsewhere]) await site.stop();
});

async function documentOf(site: Site): Promise<Document> {
  const { status, body } = await ask(site, '/openapi.json');
  expect(status).toBe(200);
  return body;
}

function operationsOf({ paths }: Document): readonly DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
}

function operationOf(document: Document, id: string): DescribedOperation {
  const found = operationsOf(document).find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`there is no operation ${id}`);
  return found;
}

/** Asks without credentials, and reads no body: that of the live tail never ends. */
async function statusOf({ url }: Site, operation: DescribedOperation): Promise<number> {
  const [type = 'application/json'] = Object.keys(operation.requestBody?.content ?? {});
  const { method, path, headers = {}, body } = documentedCall(operation, type);
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  await answer.body?.cancel();
  return answer.status;
}

describe('the examples of /openapi.json', () => {
  test('are about the hour before it is read', async () => {
    const document = await documentOf(open);
    const windows = [...JSON.stringify(document).matchAll(/"from":(\d+),"to":(\d+)/g)].map(([, from, to]) => [Number(from), Number(to)]);
    expect(windows.length).toBeGreaterThan(2);
    for (const [from = 0, to = 0] of windows)
      expect([to - from, to > Date.now() - HOUR_MS, to <= Date.now()]).toEqual([HOUR_MS, true, true]);
  });

  test.each(['searchEventLogs', 'exploreEventLogs', 'exportEventLogs'])('of %s are taken as they stand', async (id) => {
    const operation = operationOf(await documentOf(open), id);
    for (const { value } of Object.values(operation.requestBody?.content['application/json']?.examples ?? {})) {
      const call: Call = { ...documentedCall(operation, 'application/json'), body: JSON.stringify(value) };
      expect((await send(open, call)).status).toBe(200);
    }
  });

  test('of the intake are stored, and none of them is expired or from the future', async () => {
    const { requestBody } = operationOf(await documentOf(open), 'ingestEvents');
    for (const [type, { examples = {} }] of Object.entries(requestBody?.content ?? {})) {
      for (const { value } of Object.values(examples)) {
        const { status, body } = await ingest(open, typeof value === 'string' ? value : JSON.stringify(value), {
          'content-type': type.replace('*', 'vnd.example'),
        });
        expect([status, body.expired, body.rejectedCount, body.accepted > 0]).toEqual([202, 0, 0, true]);
      }
    }
  });
});

describe('the credentials that /openapi.json names', () => {
  test('are those of each operation, and of no document', async () => {
    for (const site of [open, keyedOnLoopback, keyedElsewhere]) {
      const document = await documentOf(site);
      expect(document.security).toBeUndefined();
      const named = operationsOf(document).map(({ operationId, security }) => [operationId, Array.isArray(security)]);
      expect(named).toEqual(DESCRIBED_OPERATIONS.map(({ operationId }) => [operationId, true]));
    }
  });

  test('are none without keys, but the tokens of the database', async () => {
    const secured = operationsOf(await documentOf(open)).filter(({ security = [] }) => security.length > 0);
    const ofDatabase = ['databasePipeline', 'databasePipelineOfVersion3', 'databaseCursor'];
    expect(secured.map(({ operationId, security }) => [operationId, security])).toEqual(
      ofDatabase.map((name) => [name, [{ DatabaseToken: [] }]]),
    );
  });

  const SITES = [
    ['without keys', () => open],
    ['with keys, on loopback', () => keyedOnLoopback],
    ['with keys, on every address', () => keyedElsewhere],
  ] as const;

  test.each(SITES)('%s: an operation answers 401 to a caller without any exactly where it names some', async (_name, site) => {
    for (const operation of operationsOf(await documentOf(site()))) {
      const status = await statusOf(site(), operation);
      expect([operation.operationId, status === 401]).toEqual([operation.operationId, (operation.security ?? []).length > 0]);
    }
  });
});

test('its formats are those that JSON Schema and OpenAPI have', async () => {
  const formats = new Set<unknown>();
  JSON.stringify(await documentOf(open), (key, value) => {
    if (key === 'format' && typeof value === 'string') formats.add(value);
    return value;
  });
  expect([...formats].sort()).toEqual(['binary', 'date-time', 'int32', 'int64']);
});
