import { expect, onTestFinished, test } from 'vitest';
import { ask, eventLine, ingest, lastHour, search } from '../../src/running-app.ts';
import { type BreakableServer, breakableServer } from '../engine.ts';
import { eventsOf, type ProgramOn, programOn } from './program-on.ts';

const EVENTS = 5_000;

/** Events that make several pieces of an answer, of which each but the first is read by `arrayZip`. */
const LONG_EVENTS = Array.from({ length: 12 }, (_, nth) => eventLine({ logId: `id-${nth}`, log: { text: 'x'.repeat(900_000) } }));

async function filled(lines: readonly string[]): Promise<{ readonly server: BreakableServer; readonly program: ProgramOn }> {
  const server = await breakableServer();
  onTestFinished(() => server.mend());
  const program = await programOn([server.url]);
  expect((await ingest(program, lines.join(''))).body).toMatchObject({ accepted: lines.length });
  return { server, program };
}

const MEMORY = { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: 'memory limit exceeded' };

const BREAKS = [
  { how: 'cut before its first byte', fault: { kind: 'cut-answer', afterBytes: 0 } },
  { how: 'cut behind some bytes', fault: { kind: 'cut-answer', afterBytes: 300 } },
  { how: 'ended by an error behind some bytes', fault: { kind: 'fail-answer', afterBytes: 300, ...MEMORY } },
] as const;

const JSON_BODY = { 'content-type': 'application/json' };

test.each(BREAKS)('an answer of ClickHouse that is $how is never taken for a whole one', async ({ fault }) => {
  const lines = Array.from({ length: EVENTS }, (_, nth) => eventLine({ logId: `id-${nth}`, url: `/path/${nth}`, country: 'DE' }));
  const { server, program } = await filled(lines);
  const statements = ['system.processes', 'events_local'];
  const asked = [
    () => search(program, lastHour({ pageSize: 500 })),
    () => search(program, lastHour({ groupBy: ['country'] })),
    () => ask(program, '/shield/event-logs/7/explore', { method: 'POST', headers: JSON_BODY, body: lastHour() }),
    () => ask(program, '/shield/event-logs/7/export', { method: 'POST', headers: JSON_BODY, body: lastHour() }),
    () => ask(program, '/shield/event-logs/7/feed?limit=1000'),
  ];
  for (const matching of statements) {
    for (const request of asked) {
      const broken = await server.break({ ...fault, matching });
      const { status, headers, body } = await request();
      await server.mend(broken);
      // One statement answers a page of rows.
      if (matching === 'system.processes' && status === 200) continue;
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(['store.unavailable', 'store.busy']).toContain(body.errorKey);
    }
  }
  expect(await eventsOf(program)).toMatchObject({ total: EVENTS });
});

test.each(BREAKS)('an answer that is under way is cut off where ClickHouse’s is $how', async ({ fault }) => {
  const { server, program } = await filled(LONG_EVENTS);
  const asked = [
    () => search(program, lastHour({ pageSize: 500 })),
    () => ask(program, '/shield/event-logs/7/export', { method: 'POST', headers: JSON_BODY, body: lastHour() }),
  ];
  for (const request of asked) {
    const broken = await server.break({ ...fault, matching: 'arrayZip' });
    await expect(request()).rejects.toThrow('terminated');
    await server.mend(broken);
    const { status, text } = await request();
    expect([status, new Set(text.match(/id-\d+/g)).size]).toEqual([200, LONG_EVENTS.length]);
  }
});
