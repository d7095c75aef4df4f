import { expect, test } from 'vitest';
import { markOf, PACKED_FIELDS } from '../../../../query/packed-log.ts';
import { LowestEvents, type PackedEvents } from '../../../../store/embedded/feed/lowest-events.ts';
import { packedEventLines } from '../../../../store/embedded/feed/packed-event-lines.ts';

const AFTER = 2n ** 60n;
const MARK = markOf(PACKED_FIELDS.indexOf('url'));

/** Events with the sequences 1, 2 and so on behind `AFTER`, whose logs repeat their URL. */
function packed(urls: readonly string[], hasLogs = true): PackedEvents {
  const lowest = new LowestEvents({ after: AFTER, upTo: AFTER + 1_000n, maxBytes: 10_000_000 });
  for (const [index, url] of urls.entries()) {
    lowest.add(AFTER + BigInt(index + 1), 0n, Buffer.from(`{"logId":"${index}","url":"${url}","log":`));
    if (hasLogs) lowest.addLog(index, Buffer.from(`{"seen":"${MARK}"}`));
  }
  return lowest.sorted();
}

const lineOf = (index: number, url: string): string => `{"logId":"${index}","url":"${url}","log":{"seen":"${url}"}}`;

const URLS = ['/index.html', '/über/uns', '/search?q=1', `/${'x'.repeat(40_000)}`, '/admin'];

test.each([
  ['all', { first: 0, limit: 9, maxBytes: 1_000_000, hasLogs: true }, [0, 1, 2, 3, 4]],
  ['some', { first: 1, limit: 2, maxBytes: 1_000_000, hasLogs: true }, [1, 2]],
  ['none behind the last', { first: 5, limit: 2, maxBytes: 1_000_000, hasLogs: true }, []],
  ['as many as fit', { first: 0, limit: 9, maxBytes: 300, hasLogs: true }, [0, 1, 2]],
  ['one that does not fit', { first: 3, limit: 9, maxBytes: 300, hasLogs: true }, [3]],
])('the wanted events are written with their logs unpacked: %s', (_what, wanted, expected) => {
  const lines = packedEventLines(packed(URLS), wanted, (sequence) => Number(sequence - AFTER) * 1_000);
  expect(lines.map(({ bytes, start, end }) => bytes.toString('utf8', start, end))).toEqual(
    expected.map((index) => lineOf(index, URLS[index] as string)),
  );
  expect(lines.map(({ sequence, ingestedAtMs }) => [sequence - AFTER, ingestedAtMs])).toEqual(
    expected.map((index) => [BigInt(index + 1), (index + 1) * 1_000]),
  );
});

test('an event without its log is an error that names it', () => {
  const write = () => packedEventLines(packed(URLS, false), { first: 1, limit: 1, maxBytes: 100, hasLogs: true }, () => 0);
  expect(write).toThrow(`the log of the event ${AFTER + 2n} was not found`);
});

test('without logs a line is the event up to its log, whether or not the log is there', () => {
  for (const hasLogs of [true, false]) {
    const lines = packedEventLines(packed(URLS, hasLogs), { first: 1, limit: 2, maxBytes: 1_000, hasLogs: false }, () => 0);
    expect(lines.map(({ bytes, start, end }) => bytes.toString('utf8', start, end))).toEqual(
      [1, 2].map((index) => `{"logId":"${index}","url":"${URLS[index]}"}`),
    );
  }
});
