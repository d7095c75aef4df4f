import { expect, test } from 'vitest';
import { appendRecords, firehoseEnvelope, letterTexts, wafRecord } from '../fixtures/mapped-batches.ts';
import { storedIds } from '../store/embedded/stored-events.ts';
import { breakableServer } from './engine.ts';
import { sharedStore } from './shared-store.ts';

const RECORDS = Array.from({ length: 20 }, (_, index) => wafRecord(index));
const WRONG = ['{"timestamp":"soon"}', '[1]'];

test.each([
  ['whose events are stored', '^INSERT INTO "events', { kind: 'cut-after' }],
  ['whose events are not stored', '^INSERT INTO "events', { kind: 'cut-before' }],
  ['whose dead letters are stored', '^INSERT INTO letters', { kind: 'cut-after' }],
] as const)(
  'records are there once if they are sent anew, and cut otherwise, after a batch without an answer %s',
  async (_, matching, fault) => {
    const server = await breakableServer();
    const shared = await sharedStore(server.url);
    const store = await shared.open();
    await server.break({ ...fault, matching, times: 1 });
    await expect(appendRecords(store, 'aws-waf', [...RECORDS, ...WRONG])).rejects.toMatchObject({ code: 'unavailable' });
    // The program that did not get the answer is gone: another one takes what its sender repeats.
    const other = await shared.open();
    await appendRecords(other, 'aws-waf', [...RECORDS.slice(0, 7), ...WRONG]);
    await appendRecords(other, 'aws-waf', [firehoseEnvelope(RECORDS.slice(5)), ...WRONG]);
    for (const merge of [false, true]) {
      if (merge) await shared.merge();
      expect((await storedIds(other)).sort()).toEqual([...RECORDS.keys()].map((index) => `request-${index}`).sort());
      expect(await letterTexts(other)).toEqual(WRONG.toSorted());
    }
  },
);
