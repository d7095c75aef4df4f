import { type Call, type DrivenAnswer, send } from './driven-answer.ts';
import {
  answered,
  bodyTooLarge,
  bodyTooLate,
  type Driver,
  type Drivers,
  fromForeignPage,
  ofWrongType,
  unacceptable,
  whileBroken,
  whileStopping,
  withoutKey,
} from './driver.ts';

/** Reads the feed of two zones. */
export const FEED: Call = { method: 'GET', path: '/shield/event-logs/7,8/feed' };
const TAIL: Call = { method: 'GET', path: '/shield/event-logs/7/tail', headers: { accept: 'text/event-stream' } };

const RULE = 'name: a\nzones: all\nkind: count\nat_least: 1\nwindow: 5m\n';
const BACKTEST: Call = { method: 'POST', path: '/alerts/test', headers: { 'content-type': 'application/yaml' }, body: RULE };

/** At a site of its own, because one backtest runs at a time. */
const whileAnotherRuns: Driver = async ({ unreachable }) => {
  const { store } = unreachable;
  const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const readFeed = store.readFeed.bind(store);
  store.readFeed = async (request, options) => {
    began.resolve();
    await end.promise;
    return await readFeed(request, options);
  };
  const first = send(unreachable, BACKTEST);
  await began.promise;
  const second = await send(unreachable, BACKTEST);
  end.resolve();
  await first;
  store.readFeed = readFeed;
  return second;
};

/** Returns the beginning of a stream, and ends it. */
const beginningOf =
  ({ path, headers = {} }: Call): Driver =>
  async ({ open }): Promise<DrivenAnswer> => {
    const hangUp = new AbortController();
    const answer = await fetch(`${open.url}${path}`, { headers, signal: hangUp.signal });
    const first = await answer.body?.getReader().read();
    hangUp.abort();
    return { status: answer.status, headers: answer.headers, text: Buffer.from(first?.value ?? []).toString() };
  };

const afterExpired =
  (call: Call, parameter: string): Driver =>
  ({ forgetful }) =>
    send(forgetful, { ...call, path: `${call.path}?${parameter}=${forgetful.expiredCursor}` });

/** The feed, the live tail, and what rules of alerts make of the feed. */
export const STREAM_DRIVERS: Drivers = {
  readFeed: {
    200: answered(FEED),
    400: answered({ ...FEED, path: `${FEED.path}?limit=0` }),
    401: withoutKey(FEED),
    403: fromForeignPage(FEED),
    406: unacceptable(FEED),
    416: afterExpired(FEED, 'cursor'),
    500: whileBroken(FEED),
    503: whileStopping(FEED),
  },
  testAlertRule: {
    200: answered(BACKTEST),
    400: answered({ ...BACKTEST, body: 'name: a' }),
    401: withoutKey(BACKTEST),
    403: fromForeignPage(BACKTEST),
    406: unacceptable(BACKTEST),
    408: bodyTooLate(BACKTEST),
    409: whileAnotherRuns,
    413: bodyTooLarge(BACKTEST),
    415: ofWrongType(BACKTEST),
    500: whileBroken(BACKTEST),
    503: whileStopping(BACKTEST),
  },
  tailEvents: {
    200: beginningOf(TAIL),
    400: answered({ ...TAIL, path: `${TAIL.path}?search=nonsense` }),
    401: withoutKey(TAIL),
    403: fromForeignPage(TAIL),
    406: unacceptable(TAIL),
    416: afterExpired(TAIL, 'lastEventId'),
    500: whileBroken(TAIL),
    503: whileStopping(TAIL),
  },
};
