import { afterAll, beforeAll } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { EXPORTS_AT_ONCE, ExportSlots } from '../../src/export/export-slots.ts';
import { SEARCH_BODY_BYTES } from '../../src/http/request-body.ts';
import { ask, lastHour, type RunningApp, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf, refusalOf } from './limit-table.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const { exportDeadlineMs, exportIdleMs } = loadConfig({});

describeLimits('Export', import.meta.filename, {
  'bytes of the body': {
    is: bytes(SEARCH_BODY_BYTES),
    ask: async (size) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: lastHour().padEnd(size) };
      return outcomeOf(await ask(app, '/shield/event-logs/7/export', init));
    },
  },
  'exports at a time': {
    is: count(EXPORTS_AT_ONCE),
    ask: (exports) =>
      refusalOf(() => {
        const slots = new ExportSlots();
        for (let taken = 0; taken < exports; taken += 1) slots.take();
      }),
  },
  'time until the first byte': {
    is: milliseconds(exportDeadlineMs),
    elsewhere: 'an export under way > that cannot begin in time is answered 503',
  },
  'time in all': {
    is: milliseconds(exportDeadlineMs),
    elsewhere: 'an export under way > that is past its deadline is cut off, although its client reads',
  },
  'time in which a client takes nothing': {
    is: milliseconds(exportIdleMs),
    elsewhere: 'an export under way > whose client stops reading is cut off, and the client can tell (HTTP/%s)',
  },
});
