import { expect, test } from 'vitest';
import { alertRecord, appendRecords, firehoseEnvelope, letterTexts, wafRecord } from '../fixtures/mapped-batches.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { storedIds } from './embedded/stored-events.ts';

const COUNT = 40;
const WAF = Array.from({ length: COUNT }, (_, index) => wafRecord(index));
/** Records that become no event. */
const WRONG = ['{"timestamp":"soon","event_type":"alert"}', '[1]', '{"timestamp":'];
const ALERTS = Array.from({ length: COUNT }, (_, index) => alertRecord(index));

test.each([
  ['an id of their own', 'aws-waf', WAF],
  ['an id of their bytes', 'suricata', ALERTS],
])('records with %s that come again are there once, however they are cut, and after a start', async (_name, preset, records) => {
  const folder = temporaryFolder();
  let store = await storeIn(folder);
  const ids = await appendRecords(store, preset, [...records, ...WRONG]);
  expect(new Set(ids).size).toBe(COUNT);
  const again = [
    [...records, ...WRONG, ...records, ...WRONG],
    records.toReversed().map((record) => ` \t${record}\r\n`),
    records.map((record) => JSON.stringify({ host: 'a', message: record })),
    ...records.slice(0, 3).map((record) => [`{"log":${record}}`]),
  ];
  for (const [index, batch] of again.entries()) {
    expect(ids).toEqual(expect.arrayContaining([...(await appendRecords(store, preset, batch))]));
    if (index % 2 === 0) await store.settle();
    await store.close();
    store = await storeIn(folder);
    expect((await storedIds(store)).sort()).toEqual(ids.toSorted());
    expect(await letterTexts(store)).toEqual(WRONG.toSorted());
  }
});

test('the records of an envelope are the same as these alone', async () => {
  const store = await storeIn(temporaryFolder());
  const ids = await appendRecords(store, 'aws-waf', WAF.slice(0, 30));
  const cut = await appendRecords(store, 'aws-waf', [firehoseEnvelope(WAF.slice(10, 35)), firehoseEnvelope(WAF.slice(20))]);
  expect(cut).toEqual(
    [...WAF.keys()]
      .flatMap((index) => (index >= 10 && index < 35 ? [`request-${index}`] : []))
      .concat([...WAF.keys()].slice(20).map((index) => `request-${index}`)),
  );
  await store.settle();
  expect((await storedIds(store)).sort()).toEqual([...new Set([...ids, ...cut])].sort());
});
