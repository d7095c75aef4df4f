import { type Call, type DrivenAnswer, send } from './driven-answer.ts';
import { answered, type Driver, type Drivers, fromForeignPage, unacceptable, whileBroken, whileStopping, withoutKey } from './driver.ts';

/** Reads the feed of two zones. */
export const FEED: Call = { method: 'GET', path: '/shield/event-logs/7,8/feed' };
const TAIL: Call = { method: 'GET', path: '/shield/event-logs/7/tail', headers: { accept: 'text/event-stream' } };

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

/** The feed and the live tail. */
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
