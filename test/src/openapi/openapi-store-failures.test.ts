import { expect, onTestFinished, test } from 'vitest';
import { AlertStateError } from '../../../alerts/evaluation/alert-state.ts';
import type { ErrorKey } from '../../../src/http/problem.ts';
import { STORE_ERROR_CODES, StoreError, type StoreErrorCode } from '../../../store/store-error.ts';
import { DESCRIBED_OPERATIONS, type DescribedOperation } from './document-check.ts';
import { EVENT_DRIVERS } from './event-drivers.ts';
import { OPERATION_DRIVERS } from './operation-drivers.ts';
import { PROGRAM_DRIVERS } from './program-drivers.ts';
import { type Site, startSite } from './site.ts';
import type { Sites } from './sites.ts';
import { STREAM_DRIVERS } from './stream-drivers.ts';
import { toldBy } from './told-settings.ts';

/** The document has an example of each problem that an operation can end in, by its key. */
function says(key: ErrorKey, { responses }: DescribedOperation): boolean {
  return Object.values(responses).some(({ content = {} }) => Object.values(content).some(({ examples = {} }) => key in examples));
}

function refusalsWith(error: StoreError) {
  const refuse = async (): Promise<never> => {
    throw error;
  };
  const refuseLines = async function* () {
    yield await refuse();
  };
  const reads = {
    search: refuse,
    explore: refuse,
    activeZones: refuse,
    activeRules: refuse,
    readFeed: refuse,
    readAll: refuseLines,
  };
  return { refuse, refuseLines, reads };
}

const WORDS = "connect ECONNREFUSED clickhouse.internal, open '/srv/data/catalog.sqlite'";

/** Every call of the store fails with this code, and with words that are for the operator. */
function failWith(code: StoreErrorCode, { store, kafka }: Site): void {
  const { refuse, reads, refuseLines } = refusalsWith(new StoreError(code, WORDS, { cause: new Error(WORDS) }));
  const letters = { listDeadLetters: refuse, removeDeadLetters: refuse };
  Object.assign(store, { ...reads, check: refuseLines, ...letters, append: refuse, beginBackup: refuse });
  Object.assign(store.positions, { decode: refuse, oldest: refuse, newest: refuse, afterExpiry: refuse });
  Object.assign(kafka, { skip: refuse, rewind: refuse });
}

/** Every reading of the store is refused from here on. An append never is: it waits, or it fails with `append_failed`. */
function overload({ store }: Site): void {
  const { refuse, reads } = refusalsWith(new StoreError('overloaded', 'too many searches are waiting already'));
  const lettersOf = { listDeadLetters: refuse, removeDeadLetters: refuse };
  Object.assign(store, { ...reads, ...lettersOf });
}

/** Whatever the store is on does not answer from here on, and the file of the state of alerts cannot be used. */
function disconnect({ store, kafka, alerts }: Site): void {
  const { refuse, reads, refuseLines } = refusalsWith(new StoreError('unavailable', 'connection refused'));
  Object.assign(store, {
    ...reads,
    check: refuseLines,
    append: refuse,
    listDeadLetters: refuse,
    removeDeadLetters: refuse,
    stats: refuse,
    beginBackup: refuse,
  });
  Object.assign(store.positions, { decode: refuse, oldest: refuse, newest: refuse, afterExpiry: refuse });
  Object.assign(kafka, { skip: refuse, rewind: refuse });
  const overview = async (): Promise<never> => {
    throw new AlertStateError('the state of alerts, alerts.sqlite, cannot be used: disk I/O error');
  };
  Object.assign(alerts.keeper ?? {}, { overview });
}

const READS = ['exploreEventLogs', 'exportEventLogs', 'listActiveRules', 'listActiveZones', 'readFeed', 'searchEventLogs', 'testAlertRule'];
const LETTERS = ['discardDeadLetters', 'listDeadLetters', 'replayDeadLetters'];
/** The one operation beside the search that asks the store. */
const { getApiGuardianMetrics = {} } = OPERATION_DRIVERS;
const ALERTS = ['addSilence', 'listAlerts', 'removeSilence'];
const INTAKE = ['ingestEvents', ...LETTERS, 'rewindKafkaTopic', 'skipKafkaBatch'];

const DRIVERS = { ...EVENT_DRIVERS, ...STREAM_DRIVERS, ...PROGRAM_DRIVERS };
/** The memory of bodies may have no room for them: `test/src/http/waiting-bodies.slow.test.ts`. */
const WITH_BODIES = DESCRIBED_OPERATIONS.filter(({ operationId, requestBody }) => requestBody !== undefined && operationId in DRIVERS).map(
  ({ operationId }) => operationId,
);

test.each<[ErrorKey, string, (site: Site) => void, readonly string[]]>([
  ['store.busy', 'has too much to do', overload, [...READS, ...LETTERS]],
  ['store.unavailable', 'cannot be reached', disconnect, [...READS, ...INTAKE, ...ALERTS, 'backUp', 'checkFiles', 'tailEvents']],
])('what asks the store ends in `%s` where it %s, and the document says so of nothing else', async (key, _what, fail, expected) => {
  const site = await startSite();
  onTestFinished(() => site.stop());
  fail(site);
  const failed: string[] = [];
  for (const [name, drivers] of Object.entries(DRIVERS)) {
    const succeed = drivers[200] ?? drivers[202];
    // The drivers of successes ask this site alone.
    const answer = await succeed?.({ open: site } as Sites);
    if (answer?.status !== 503 || JSON.parse(answer.text).errorKey !== key) continue;
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    failed.push(name);
  }
  expect(failed.toSorted()).toEqual(expected.toSorted());
  const described = DESCRIBED_OPERATIONS.filter((operation) => says(key, operation)).map(({ operationId }) => operationId);
  expect(described.toSorted()).toEqual([...new Set([...failed, ...(key === 'store.busy' ? WITH_BODIES : [])])].toSorted());
});

test.each(STORE_ERROR_CODES)('what the store says of `%s` is for the log, which has the id of the answer', async (code) => {
  const site = await startSite();
  onTestFinished(() => site.stop());
  failWith(code, site);
  let refused = 0;
  for (const [name, drivers] of Object.entries({ ...EVENT_DRIVERS, ...STREAM_DRIVERS, ...PROGRAM_DRIVERS, getApiGuardianMetrics })) {
    const answer = await (drivers[200] ?? drivers[202] ?? drivers[204])?.({ open: site } as Sites);
    if (answer === undefined) continue;
    expect([name, toldBy(name, answer, ['ECONNREFUSED', 'clickhouse.internal', '/srv/data', ...site.hidden], site.log)]).toEqual([
      name,
      [],
    ]);
    const id = answer.headers.get('x-request-id');
    if (answer.status < 400 || id === null) continue;
    refused += 1;
    expect(JSON.stringify(site.log.find(({ reqId }) => reqId === id))).toContain('clickhouse.internal');
  }
  expect(refused).toBeGreaterThan(10);
});
