import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { takeInEvents } from '../../../ingest/upload/event-intake.ts';
import { IntakeError, type IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { addKafkaMessage, MAX_ITEM_LETTERS } from '../../../ingest/upload/message-events.ts';
import type { DeadLetter } from '../../../store/dead-letter.ts';
import type { EventBatch, EventStore } from '../../../store/event-store.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { assertAsyncProperty } from '../../random/assert-property.ts';
import { loadedEvents } from '../event/loaded-events.ts';
import { HOUR, inChunks, NOW, RULES, rawEvent } from '../event/raw-events.ts';

/** What a message becomes: the ids of its events, the number of those that are expired, and its letters as `index bytes`. */
function madeOf(message: string | Uint8Array) {
  const batch = batchOf(Buffer.from(message));
  const letters = batch.deadLetters.map(({ index, bytes }) => `${index} ${Buffer.from(bytes).toString()}`);
  return { ids: loadedEvents(batch).map(({ logId }) => logId), expired: batch.expiredCount, letters };
}

function batchOf(message: Uint8Array): EventBatch {
  const builder = new BatchBuilder(RULES);
  addKafkaMessage(builder, 't', 3, 41n, message);
  const batch = builder.take();
  expect(batch.sourceOffsets).toEqual([{ topic: 't', partition: 3, nextOffset: 42n }]);
  return batch;
}

const [own, other] = [rawEvent({ logId: 'own' }), rawEvent({ logId: 'other' })];
const idless = (more: object = {}) => rawEvent({ logId: undefined, ...more });
const expired = idless({ timestamp: NOW - 100 * HOUR });
const future = idless({ timestamp: NOW + HOUR });
const overLines = JSON.stringify(JSON.parse(idless()), null, 2);
const none = { ids: [], expired: 0, letters: [] };

describe('a message becomes', () => {
  test.each<[what: string, message: string, made: Partial<ReturnType<typeof madeOf>>]>([
    ['the one event that it is', idless(), { ids: ['t-3-41'] }],
    ['that event, also over lines', `\ufeff${overLines}\n`, { ids: ['t-3-41'] }],
    ['its own letter, if its one event breaks a rule', future, { letters: [`null ${future}`] }],
    ['the events of an array', `[${idless()}, ${own},${idless()}]`, { ids: ['t-3-41:0', 'own', 't-3-41:2'] }],
    ['the event of an array of one', `[${idless()}]`, { ids: ['t-3-41:0'] }],
    ['the events of an array over lines', `\n[\n${overLines},\n${overLines}\n]\n`, { ids: ['t-3-41:0', 't-3-41:1'] }],
    ['the events of several arrays', `[${own}][${other}] [${idless()}]`, { ids: ['own', 'other', 't-3-41:2'] }],
    ['the events on its lines', `${idless()}\n\n${own}\r\n\0\0${idless()}\n`, { ids: ['t-3-41:0', 'own', 't-3-41:2'] }],
    ['the events behind one another', `${idless()}${own} ${idless()}`, { ids: ['t-3-41:0', 'own', 't-3-41:2'] }],
    ['the events behind a byte order mark and NULs', `\ufeff[${own}]\n\0\0${other}`, { ids: ['own', 'other'] }],
    ['nothing, if it is an empty array', ' [ ] ', {}],
    ['an event each of the same bytes without an id', `[${idless()},${idless()}]`, { ids: ['t-3-41:0', 't-3-41:1'] }],
    ['events and a count of the expired, which have an index, too', `[${expired},${idless()}]`, { ids: ['t-3-41:1'], expired: 1 }],
    ['events and letters with their indices', `[1,${own},"x",${future}]`, { ids: ['own'], letters: ['0 1', '2 "x"', `3 ${future}`] }],
    ['letters of what is no object', '[null,true,[]]', { letters: ['0 null', '1 true', '2 []'] }],
    ['a letter of an array within an array', `[${own},[${other}]]`, { ids: ['own'], letters: [`1 [${other}]`] }],
    ['a letter of what is missing between commas', `[${own},,${other}]`, { ids: ['own', 'other'], letters: ['1 '] }],
    ['a letter of the text behind an array', `[${own}] and more`, { ids: ['own'], letters: ['1  and more'] }],
    ['a letter of the line of text between its events', `${own}\nlog:\n${other}`, { ids: ['own', 'other'], letters: ['1 log:'] }],
    ['its own letter, if text is behind its one event', `${own} x`, { letters: [`null ${own} x`] }],
    ['its own letter, if it is cut off in its one event', own.slice(0, -9), { letters: [`null ${own.slice(0, -9)}`] }],
    ['its own letter, if it is cut off in the first of an array', '[{"a":', { letters: ['null [{"a":'] }],
    ['its own letter, if an array only begins', '[', { letters: ['null ['] }],
    ['a letter of what is cut off in a later one of an array', `[${own},{"a":`, { ids: ['own'], letters: ['1 {"a":'] }],
    ['a letter of a whole one in an array without its end', `[${own},${other}`, { ids: ['own'], letters: [`1 ${other}`] }],
    ['a letter of nothing, if an array ends behind a comma', `[${own},`, { ids: ['own'], letters: ['1 '] }],
    ['a letter of what is cut off on a later line', `${own}\n{"a":`, { ids: ['own'], letters: ['1 {"a":'] }],
    ['a letter of a line that is cut off before another one', `{"a":\n${own}`, { ids: ['own'], letters: ['0 {"a":'] }],
    ['its own letter, if it is no JSON', 'hello', { letters: ['null hello'] }],
    ['its own letter, if it is another value', '"hello"', { letters: ['null "hello"'] }],
    ['its own letter, if it is empty', '', { letters: ['null '] }],
    ['its own letter, if it is blank', ' \n ', { letters: ['null  \n '] }],
    ['its own letter, if it is NULs', '\0\0', { letters: ['null \0\0'] }],
  ])('%s', (_what, message, made) => {
    expect(madeOf(message)).toEqual({ ...none, ...made });
  });
});

test('a letter of one of several events has the reason, the zone and the place of it', () => {
  const { deadLetters } = batchOf(Buffer.from(`[${future},{}]`));
  const place = { source: 'kafka', topic: 't', partition: 3, offset: 41n };
  expect(deadLetters).toMatchObject([
    { ...place, index: 0, zoneId: 7, reason: expect.stringMatching(/^timestamp is \d+: at most 10 minutes after now/) },
    { ...place, index: 1, zoneId: null, reason: expect.stringMatching(/^shieldZoneId is missing/) },
  ]);
  expect(batchOf(Buffer.from(`[${own},{"a":`)).deadLetters[0]?.reason).toBe(
    'the message ends inside a JSON array, in element 1: "]" is missing',
  );
});

test('the limits of an event are those of each of several, and not of their message', () => {
  const [largest, tooLong, longest] = [1024 * 1024, 1024 * 1024 + 1, 2_200_000].map((size) =>
    idless({ log: undefined, ua: 'x'.repeat(size - idless({ log: undefined, ua: '' }).length) }),
  ) as [string, string, string];
  const message = Buffer.from(`[${[largest, tooLong, longest, ...Array(20).fill(largest)].join()}]`);
  const { eventCount, deadLetters } = batchOf(message);
  expect(eventCount).toBe(21);
  expect(deadLetters.map(({ index, reason, bytes, cut }) => [index, reason, bytes.length, cut?.sizeBytes])).toEqual([
    [1, 'the event has 1048577 bytes: at most 1048576 are allowed', 64 * 1024, 1048577],
    [2, 'the event has 2200000 bytes: at most 1048576 are allowed', 64 * 1024, 2_200_000],
  ]);
  const alone = batchOf(Buffer.from(longest)).deadLetters;
  expect(alone.map(({ index, cut }) => [index, cut?.sizeBytes])).toEqual([[null, 2_200_000]]);
});

test('a message of very many small events is a batch of all of them', () => {
  const message = `[${Array(100_000).fill('{"shieldZoneId":7,"timestamp":1778599800000}').join()}]`;
  const ids = loadedEvents(batchOf(Buffer.from(message))).map(({ logId }) => logId);
  expect([ids.length, new Set(ids).size, ids.at(-1)]).toEqual([100_000, 100_000, 't-3-41:99999']);
});

describe('of a message in which many events break a rule', () => {
  const withBad = (bad: number) => `[${own},${'1,'.repeat(bad)}${other}]`;

  test('each has a letter, as long as they are 1,000', () => {
    const { ids, letters } = madeOf(withBad(MAX_ITEM_LETTERS));
    expect([ids, letters.length, letters.at(-1)]).toEqual([['own', 'other'], 1000, '1000 1']);
  });

  test('there is one letter, of the whole message, where they are more, and the others are stored', () => {
    const message = withBad(MAX_ITEM_LETTERS + 1);
    expect(madeOf(message)).toEqual({ ids: ['own', 'other'], expired: 0, letters: [`null ${message}`] });
    expect(batchOf(Buffer.from(message)).deadLetters).toMatchObject([
      {
        zoneId: null,
        reason:
          '1001 of 1003 events of the message break a rule, and at most 1000 become dead letters of their own; ' +
          'the first is the one with index 1: the event is 1: a JSON object is required',
      },
    ]);
  });

  test.each([
    ['in an array', withBad(100_000)],
    ['on one line', `${own}${'{}'.repeat(100_000)}${other}`],
  ])('the rest is not read where they are more than an upload may have, %s', (_where, message) => {
    const { ids, letters } = madeOf(message);
    expect([ids, letters]).toEqual([['own'], [`null ${message}`]]);
    const { reason } = batchOf(Buffer.from(message)).deadLetters[0] as DeadLetter;
    expect(reason).toMatch(/^10001 of 10002 events of the message break a rule, .*, and what follows them was not read; the first is/);
  });
});

test.each([
  ['empty arrays', `[${own}]${'[]'.repeat(200_000)}[${other}]`],
  ['blank lines', `${own}\n${'\n'.repeat(200_000)}${other}`],
])('a message is not read on behind very many %s, which cost as much as events', (_what, message) => {
  const { ids, letters } = madeOf(message);
  expect([ids, letters]).toEqual([['own'], [`null ${message}`]]);
  const { reason } = batchOf(Buffer.from(message)).deadLetters[0] as DeadLetter;
  expect(reason).toMatch(/^more than 100000 lines and arrays of the message are empty, and what follows them was not read/);
});

test('the bytes of a message may change afterwards', () => {
  const builder = new BatchBuilder(RULES);
  const message = Buffer.from(`[${own},{"a":1}]`);
  addKafkaMessage(builder, 't', 0, 1n, message);
  message.fill('x');
  const batch = builder.take();
  expect(loadedEvents(batch)).toMatchObject([{ logId: 'own' }]);
  expect(Buffer.from(batch.deadLetters[0]?.bytes ?? []).toString()).toBe('{"a":1}');
});

/** What an upload of `application/json` with these bytes stores, and its report; the events as they are without their ids. */
async function uploaded(bytes: Buffer, store: EventStore): Promise<{ events: unknown[]; report: IntakeReport; isUnclosed: boolean }> {
  const events: unknown[] = [];
  const noting = alteredStore(store, {
    append: async (batch) => {
      events.push(...withoutIds(batch));
      return { eventCount: batch.eventCount, duplicates: 0, deadLettersNotKept: [] };
    },
  });
  try {
    const report = await takeInEvents(inChunks(bytes, 7), { ...RULES, store: noting, source: 'http', form: 'json' });
    return { events, report, isUnclosed: false };
  } catch (error) {
    if (!(error instanceof IntakeError)) throw error;
    return { events, report: error.report, isUnclosed: true };
  }
}

const withoutIds = (batch: EventBatch) => loadedEvents(batch).map(({ logId, ...event }) => event);

test('a message is taken as an upload of application/json with its bytes', async () => {
  const store = await storeIn(temporaryFolder());
  const text = fc.constantFrom(own, idless({ ua: 'é🛡' }), future, expired, overLines, '{"a":', '{}', '1', 'x', '"', '\\', '}', '\0');
  const between = fc.constantFrom('', ' ', ',', '\n', '\r\n', '[', ']', '[\n', ',\n', '\n]\n');
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(fc.tuple(between, text), { maxLength: 8 }), between, async (parts, last) => {
      const bytes = Buffer.from(parts.flat().join('') + last);
      const { events, report, isUnclosed } = await uploaded(bytes, store);
      const batch = batchOf(bytes);
      expect([withoutIds(batch), batch.expiredCount]).toEqual([events, report.expired]);
      const ofItems = batch.deadLetters.filter(({ index }) => index !== null);
      const told = ofItems.map(({ index, reason }: DeadLetter) => ({ index, reason }));
      if (ofItems.length < batch.deadLetters.length) {
        // The message itself is the letter: nothing in it is an event.
        expect([batch.deadLetters.length, batch.eventCount, batch.expiredCount]).toEqual([1, 0, 0]);
        expect(report.rejectedCount).toBeLessThanOrEqual(1);
      } else {
        expect(isUnclosed ? told.slice(0, -1) : told).toEqual(report.rejected.map(({ index, reason }) => ({ index, reason })));
      }
    }),
    { numRuns: 300 },
  );
});
