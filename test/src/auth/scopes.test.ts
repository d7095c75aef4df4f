import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, type Scope } from '../../../src/config/access-key.ts';
import { type RunningProgram, startWhole } from '../management/running-program.ts';
import { DESCRIBED_OPERATIONS } from '../openapi/document-check.ts';
import { documentedCall } from '../openapi/documented-call.ts';
import { send } from '../openapi/driven-answer.ts';

/** What the key of each operation needs. Off loopback; the operations that are not here need no access key. */
const NEEDED: Readonly<Record<string, readonly Scope[]>> = {
  searchEventLogs: ['read'],
  exploreEventLogs: ['read'],
  listActiveZones: ['read'],
  listActiveRules: ['read'],
  exportEventLogs: ['read'],
  readFeed: ['read'],
  testAlertRule: ['read'],
  tailEvents: ['read'],
  listDeadLetters: ['read'],
  listAlerts: ['read'],
  getAccessList: ['read'],
  getApiGuardianMetrics: ['read'],
  ingestEvents: ['ingest'],
  sendFromFirehose: ['ingest'],
  sendOtlpLogs: ['ingest'],
  bulk: ['ingest'],
  bulkByPut: ['ingest'],
  bulkOfIndex: ['ingest'],
  bulkOfIndexByPut: ['ingest'],
  sendToCollector: ['ingest'],
  sendEventsToCollector: ['ingest'],
  sendEventsToCollector10: ['ingest'],
  sendLinesToCollector: ['ingest'],
  sendLinesToCollector10: ['ingest'],
  askCollector: ['ingest'],
  replayDeadLetters: ['ingest'],
  discardDeadLetters: ['ingest'],
  backUp: ['admin'],
  rewindKafkaTopic: ['admin'],
  skipKafkaBatch: ['admin'],
  checkFiles: ['admin'],
  addSilence: ['manage'],
  removeSilence: ['manage'],
  upsertScriptVariable: ['manage'],
  updateApiGuardianSpec: ['manage'],
  addDnsZone: ['manage'],
  setBotAction: ['manage'],
  requestExternalHttpCertificate: ['manage'],
  completeExternalHttpCertificate: ['manage'],
  removeHostname: ['manage'],
  getApplicationStatistics: ['read', 'personal'],
  getApplicationOverview: ['read', 'personal'],
  listNodes: ['read', 'personal'],
  metrics: ['metrics'],
};

const GENERAL: readonly Scope[] = ['read', 'ingest', 'manage'];
const FORMS: readonly (readonly Scope[])[] = [[], ...SCOPES.map((scope) => [scope]), ['read', 'personal'], ['ingest', 'metrics']];

/** Returns the scopes that the documentation gives a key with these names in its fourth part. */
function grantedTo(named: readonly Scope[], zones: string): ReadonlySet<Scope> {
  const general = named.some((scope) => GENERAL.includes(scope)) ? [] : GENERAL;
  return new Set<Scope>([...general, ...named, ...(zones === '*' ? (['metrics', 'admin'] as const) : [])]);
}

const KEYS = ['*', '1+2+7'].flatMap((zones) =>
  FORMS.map((named) => ({ named, zones, key: `key-of-${zones.replaceAll('+', '-')}-${named.join('-')}-0123456789` })),
);

let program: RunningProgram;
let url: string;

beforeAll(async () => {
  const entries = KEYS.map(({ named, zones, key }, index) => [`k${index}`, key, zones, ...(named.length === 0 ? [] : [named.join('+')])]);
  program = await startWhole({ HOST: '0.0.0.0', ACCESS_KEYS: entries.map((parts) => parts.join(':')).join(',') });
  url = program.url.replace('0.0.0.0', '127.0.0.1');
});

afterAll(() => program[Symbol.asyncDispose]());

test('every operation that needs an access key is in the table, and no other', async () => {
  const closed: string[] = [];
  for (const operation of DESCRIBED_OPERATIONS) {
    const answer = await send({ url }, documentedCall(operation, 'application/json'));
    // The database says 401 for its own tokens.
    if (answer.status === 401 && !operation.tags.includes('Database')) closed.push(operation.operationId);
  }
  expect(closed.toSorted()).toEqual(Object.keys(NEEDED).toSorted());
});

describe.each(KEYS)('a key of zones $zones with the scopes $named', ({ named, zones, key }) => {
  const granted = grantedTo(named, zones);

  test.each(Object.entries(NEEDED))('may or may not call %s, which needs %j', async (name, needed) => {
    const operation = DESCRIBED_OPERATIONS.find(({ operationId }) => operationId === name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    const call = documentedCall(operation, 'application/json');
    // A tail ends by itself only where it is refused.
    const path = name === 'tailEvents' ? `${call.path}&search=nonsense` : call.path;
    const answer = await send({ url }, { ...call, path, headers: { ...call.headers, accesskey: key } });
    const [lacking] = needed.filter((scope) => !granted.has(scope));
    // Operation 13 has no room for words.
    const wordless = answer.text === '{"statusCode":403}';
    const deniedScope = /does not have the scope \\?"(\w+)\\?"/.exec(answer.text)?.[1];
    expect(wordless ? 'one without words' : deniedScope).toBe(wordless && lacking !== undefined ? 'one without words' : lacking);
    if (lacking !== undefined) expect(answer.status).toBe(403);
  });
});
