import { expect, test } from 'vitest';
import { LIGHT_SEATS, MAX_LEFT_OVER, SEATS } from '../../../src/scheduling/fair-queue.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, eventLine, ingest, lastHour } from '../../src/running-app.ts';
import { breakableServer } from '../engine.ts';
import { eventsOf, metric, programOn } from './program-on.ts';

const MOST_ENDED = SEATS + LIGHT_SEATS + MAX_LEFT_OVER;

test('callers who hang up one after the other have no more statements ended at a time than there are seats', async () => {
  const server = await breakableServer();
  const program = await programOn([server.url]);
  expect((await ingest(program, eventLine({ logId: 'a' }))).status).toBe(202);
  const reads = await server.break({ kind: 'hold', at: 'before', matching: 'bytesUpTo' });
  const ends = await server.break({ kind: 'hold', at: 'before', matching: '^KILL QUERY' });
  const countHeld = async (fault: number): Promise<number> => (await server.held(fault, 0)).length;
  for (let callers = 0; callers < 2 * MOST_ENDED; callers += 1) {
    const caller = new AbortController();
    const before = await countHeld(ends);
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: lastHour(), signal: caller.signal };
    const sent = await countHeld(reads);
    const asked = ask(program, '/shield/event-logs/7/search', init).catch((error: unknown) => error);
    let waits = false;
    await eventually('the caller has a statement, or waits for a seat', async () => {
      waits = ((await metric(program, 'shieldlog_reads_waiting')) ?? 0) > 0;
      return waits || (await countHeld(reads)) > sent;
    });
    caller.abort(new Error('has hung up'));
    await asked;
    if (!waits) await server.held(ends, before + 1);
  }
  expect(await countHeld(ends)).toBeGreaterThan(1);
  expect(await countHeld(ends)).toBeLessThanOrEqual(MOST_ENDED);
  expect((await ingest(program, eventLine({ logId: 'b' }))).status).toBe(202);
  await server.mend();
  expect(await eventsOf(program)).toEqual({ total: 2, feed: ['a', 'b'] });
  await expect.poll(() => metric(program, 'shieldlog_reads_left_over')).toBe(0);
});
