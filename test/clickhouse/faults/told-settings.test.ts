import { expect, test } from 'vitest';
import { COMPANIONS, OPERATIONS } from '../../../edge/operations/operations.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { DESCRIBED_OPERATIONS, type DescribedOperation } from '../../src/openapi/document-check.ts';
import { documentedCall } from '../../src/openapi/documented-call.ts';
import type { DrivenAnswer } from '../../src/openapi/driven-answer.ts';
import { secretsIn, toldBy } from '../../src/openapi/told-settings.ts';
import { type BreakableServer, breakableServer, testDatabase } from '../engine.ts';
import { type ProgramOn, programOn } from './program-on.ts';

/** What the server says in its errors. */
const WORDS = 'there is no /var/lib/clickhouse/store for the user teller';
const SENT_ID = 'an-id-of-the-caller';

/** Calls it as its examples do. Of a stream that goes on no more is read than its first bytes. */
async function call({ url }: ProgramOn, operation: DescribedOperation): Promise<DrivenAnswer> {
  const [type = 'application/json'] = Object.keys(operation.requestBody?.content ?? {});
  const { method, path, headers = {}, body } = documentedCall(operation, type);
  const sent = { method, headers: { ...headers, 'x-request-id': SENT_ID }, ...(body === undefined ? {} : { body }) };
  const answer = await fetch(`${url}${path}`, sent);
  const isEndless = answer.headers.get('content-type') === 'text/event-stream';
  if (isEndless) await answer.body?.cancel();
  return { status: answer.status, headers: answer.headers, text: isEndless ? '' : await answer.text() };
}

const refusing = (code: number) => (server: BreakableServer) => server.break({ kind: 'refuse', code, name: 'AN_ERROR', message: WORDS });

/** What asks the store. */
const OF_THE_STORE = DESCRIBED_OPERATIONS.filter(
  ({ operationId }) => operationId === 'getApiGuardianMetrics' || ![...OPERATIONS, ...COMPANIONS].some(({ name }) => name === operationId),
);

const FAULTS: readonly (readonly [string, (server: BreakableServer) => Promise<unknown>])[] = [
  ['lets the user in no more', refusing(516)],
  ['does not let the user do it', refusing(497)],
  ['has no table', refusing(60)],
  ['finds the answer too large', refusing(158)],
  ['has too much to do', refusing(241)],
  ['cannot write', refusing(243)],
  ['misses a replica', refusing(279)],
  ['fails as nobody knows it', refusing(49)],
  ['cuts connections', (server) => server.break({ kind: 'cut-before' })],
  ['is away', (server) => server.goAway()],
];

test('no answer tells of the settings or repeats the server, whatever fails, and the log has the id of each 5xx', async () => {
  const server = await breakableServer('teller', 'the-password-of-the-teller');
  const { name: database } = await testDatabase();
  const dataDir = temporaryFolder();
  const env = { CLICKHOUSE_USER: server.user, CLICKHOUSE_PASSWORD: server.password, DATA_DIR: dataDir };
  const program = await programOn([server.url], { database, env });
  const hidden = [...secretsIn({ url: server.url }), server.user, server.password, database, dataDir, '/var/lib', 'AN_ERROR', 'ECONN'];
  const failures = async (what: string, operations: readonly DescribedOperation[]): Promise<number> => {
    let failed = 0;
    for (const operation of operations) {
      const answer = await call(program, operation);
      const told = toldBy(operation.operationId, answer, hidden, program.log, SENT_ID);
      expect([what, operation.operationId, told]).toEqual([what, operation.operationId, []]);
      if (answer.status >= 500) failed += 1;
    }
    return failed;
  };
  // On a busy machine /readyz may tell for a while that ClickHouse has not answered in time.
  await expect.poll(() => failures('is well', DESCRIBED_OPERATIONS)).toBe(0);
  for (const [what, fail] of FAULTS) {
    await fail(server);
    expect([what, await failures(what, OF_THE_STORE)]).toEqual([what, expect.toSatisfy((count: number) => count >= 5)]);
    await server.mend();
  }
});
