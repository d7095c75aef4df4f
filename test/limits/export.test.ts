import { afterAll, beforeAll } from 'vitest';
import { SEARCH_LIMITS } from '../../query/search-limits.ts';
import { loadConfig } from '../../src/config/config.ts';
import { csvColumns } from '../../src/export/export-format.ts';
import { EXPORTS_AT_ONCE, takeExportSlot } from '../../src/export/export-slots.ts';
import { SEARCH_BODY_BYTES } from '../../src/http/request-body.ts';
import { Semaphore } from '../../work/semaphore.ts';
import { ask, lastHour, type RunningApp, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf, refusalOf } from './limit-table.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const times = (length: number, text: string): string[] => Array.from({ length }, () => text);

/** So many in parts of at most `most`. */
function partsOf(all: number, most: number): number[] {
  return Array.from({ length: Math.ceil(all / most) }, (_, part) => Math.min(most, all - part * most));
}

/** Asks with half of the clauses in each list. */
async function askedInBoth(
  clauses: readonly { readonly op: string; readonly value: readonly string[] }[],
  query: string | null = null,
): Promise<string> {
  const named = clauses.map((clause) => ({ field: 'url', ...clause }));
  const half = Math.floor(named.length / 2);
  const body = lastHour({ query, filters: named.slice(0, half), exclude: named.slice(half) });
  return outcomeOf(
    await ask(app, '/shield/event-logs/7/export', { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
  );
}

const { exportDeadlineMs, exportIdleMs } = loadConfig({});

describeLimits('Export', import.meta.filename, {
  'bytes of the body': {
    is: bytes(SEARCH_BODY_BYTES),
    ask: async (size) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: lastHour().padEnd(size) };
      return outcomeOf(await ask(app, '/shield/event-logs/7/export', init));
    },
  },
  'clauses of `filters` and `exclude`': {
    is: count(SEARCH_LIMITS.clauses),
    ask: (size) => askedInBoth(Array.from({ length: size }, () => ({ op: 'eq', value: ['x'] }))),
  },
  'values of all of them': {
    is: count(SEARCH_LIMITS.allAlternatives),
    ask: (size) => askedInBoth(partsOf(size, 500).map((part) => ({ op: 'in', value: times(part, 'x') }))),
  },
  'words and phrases of `query` and values of all of them for `contains` and `wildcard`': {
    is: count(SEARCH_LIMITS.searchedTexts),
    ask: (size) =>
      askedInBoth(
        partsOf(size - 2, 40).map((part, at) => ({ op: at === 0 ? 'contains' : 'wildcard', value: times(part, 'x') })),
        'two words',
      ),
  },
  'bytes of all of these': {
    is: bytes(SEARCH_LIMITS.allSearchedBytes),
    ask: (size) =>
      askedInBoth(
        partsOf(size - 3, SEARCH_LIMITS.searchedTextBytes).map((part) => ({ op: 'wildcard', value: ['x'.repeat(part)] })),
        'é b',
      ),
  },
  'names in `columns`': {
    is: count(csvColumns(true).length),
    ask: async (size) => {
      const columns = [...csvColumns(true), 'time'].slice(0, size).join(',');
      const init = { method: 'POST', headers: { 'content-type': 'application/json', accept: 'text/csv' }, body: lastHour() };
      return outcomeOf(await ask(app, `/shield/event-logs/all/export?columns=${columns}`, init));
    },
  },
  'exports at a time': {
    is: count(EXPORTS_AT_ONCE),
    ask: (exports) =>
      refusalOf(() => {
        const slots = new Semaphore(EXPORTS_AT_ONCE);
        for (let taken = 0; taken < exports; taken += 1) takeExportSlot(slots);
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
