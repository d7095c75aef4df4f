import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { storeErrorOf } from '../../../store/clickhouse/server/server-error.ts';
import { StoreError } from '../../../store/store-error.ts';
import { ask, eventLine, ingest, lastHour, search } from '../../src/running-app.ts';
import { breakableServer } from '../engine.ts';
import { eventsOf, programOn } from './program-on.ts';

/** The statement itself is wrong: BAD_ARGUMENTS and its like. */
const DEFECTS = [36, 42, 43, 53, 62, 456];

/** Numbers that nothing is known of, such as those of garbled data, of tables that somebody has changed, and of faults in the server. */
const UNKNOWN = [6, 16, 32, 46, 47, 49, 1001];

const EVERY_CODE = Array.from({ length: 1_200 }, (_, code) => code);

test('few numbers of errors are a defect of the program, and all others have the caller ask again', () => {
  const defects = EVERY_CODE.filter((code) => {
    const error = new ClickHouseError({ message: 'why', code: String(code), type: 'NAME' });
    const told = storeErrorOf(error, { user: 'u', database: 'd' });
    return !(told instanceof StoreError) && told.name === 'Error';
  });
  expect(defects).toEqual(DEFECTS);
});

test('a refusal that nothing is known of is an outage to whoever asks, and one of a wrong statement a defect', async () => {
  const server = await breakableServer();
  const program = await programOn([server.url]);
  const requests = [
    ['search', () => search(program, lastHour())],
    ['upload', () => ingest(program, eventLine({ logId: 'a' }))],
    ['feed', () => ask(program, '/shield/event-logs/7/feed?limit=10')],
    ['dead letters', () => ask(program, '/ingest/dead-letters')],
  ] as const;
  for (const code of [...UNKNOWN, ...DEFECTS]) {
    const broken = await server.break({ kind: 'refuse', code, name: 'NAME', message: 'why', matching: '^SELECT|^INSERT|^WITH' });
    for (const [what, request] of requests) {
      const answer = await request();
      // An upload says in any case that its events are to be sent again.
      const expected = DEFECTS.includes(code) && what !== 'upload' ? 500 : 503;
      expect([code, what, answer.status]).toEqual([code, what, expected]);
      if (UNKNOWN.includes(code)) {
        expect(answer.body.errorKey).toBe('store.unavailable');
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      }
    }
    await server.mend(broken);
  }
  expect((await ingest(program, eventLine({ logId: 'a' }))).status).toBe(202);
  expect(await eventsOf(program)).toEqual({ total: 1, feed: ['a'] });
});
