import type { Call } from './driven-answer.ts';
import { answered, type Drivers, fromForeignPage, whileBroken, whileStopping, withoutKey } from './driver.ts';

const HEALTH: Call = { method: 'GET', path: '/healthz' };
const READINESS: Call = { method: 'GET', path: '/readyz' };
const METRICS: Call = { method: 'GET', path: '/metrics' };
const DESCRIPTION: Call = { method: 'GET', path: '/openapi.json' };

/** Health, metrics and the description itself. */
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
  describeInterface: { 200: answered(DESCRIPTION), 403: fromForeignPage(DESCRIPTION), 503: whileStopping(DESCRIPTION) },
};
