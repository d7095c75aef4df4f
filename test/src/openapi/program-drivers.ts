import { type Call, send } from './driven-answer.ts';
import {
  answered,
  bodyTooLarge,
  bodyTooLate,
  type Driver,
  type Drivers,
  fromForeignPage,
  JSON_TYPE,
  ofWrongType,
  unacceptable,
  whileBroken,
  whileStopping,
  withKey,
  withoutKey,
} from './driver.ts';
import { KEY_OF_ZONE_8 } from './sites.ts';

const HEALTH: Call = { method: 'GET', path: '/healthz' };
const READINESS: Call = { method: 'GET', path: '/readyz' };
const METRICS: Call = { method: 'GET', path: '/metrics' };
const CHECK: Call = { method: 'GET', path: '/check' };
const DESCRIPTION: Call = { method: 'GET', path: '/openapi.json' };

const BACKUP: Call = { method: 'POST', path: '/backup', headers: JSON_TYPE, body: '{"files":[]}' };

/** At a site of its own, because one backup is made at a time. */
const whileAnotherIsMade: Driver = async ({ unreachable }) => {
  await using _ = await unreachable.store.beginBackup();
  return await send(unreachable, BACKUP);
};

/** At a site of its own, because one check runs at a time. */
const whileAnotherRuns: Driver = async ({ unreachable }) => {
  const { store } = unreachable;
  const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const check = store.check.bind(store);
  store.check = async function* () {
    began.resolve();
    await end.promise;
    yield* check();
  };
  const first = send(unreachable, CHECK);
  await began.promise;
  const second = await send(unreachable, CHECK);
  end.resolve();
  await first;
  store.check = check;
  return second;
};

/** Health, metrics, backups and the description itself. */
export const PROGRAM_DRIVERS: Drivers = {
  isAlive: { 200: answered(HEALTH), 403: fromForeignPage(HEALTH) },
  isReady: { 200: answered(READINESS), 403: fromForeignPage(READINESS), 503: whileStopping(READINESS) },
  metrics: {
    200: answered(METRICS),
    401: withoutKey(METRICS),
    403: fromForeignPage(METRICS),
    500: whileBroken(METRICS),
    503: whileStopping(METRICS),
  },
  backUp: {
    200: answered(BACKUP),
    400: answered({ ...BACKUP, body: '{}' }),
    401: withoutKey(BACKUP),
    403: withKey(KEY_OF_ZONE_8)(BACKUP),
    408: bodyTooLate(BACKUP),
    409: whileAnotherIsMade,
    413: bodyTooLarge(BACKUP),
    415: ofWrongType(BACKUP),
    500: whileBroken(BACKUP),
    503: whileStopping(BACKUP),
  },
  checkFiles: {
    200: answered(CHECK),
    401: withoutKey(CHECK),
    403: withKey(KEY_OF_ZONE_8)(CHECK),
    406: unacceptable(CHECK),
    409: whileAnotherRuns,
    500: whileBroken(CHECK),
    503: whileStopping(CHECK),
  },
  describeInterface: { 200: answered(DESCRIPTION), 403: fromForeignPage(DESCRIPTION), 503: whileStopping(DESCRIPTION) },
};
