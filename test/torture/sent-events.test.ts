import { describe, expect, test } from 'vitest';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { NOW } from '../fixtures/present.ts';
import { runSeed } from '../random/run-seed.ts';
import { type Batch, countEvents, Difference, eventText, RETENTION_MS, Received, SentEvents, sentEvent } from './sent-events.ts';

/** Some batches, of which the first is acknowledged. */
function someBatches(): { readonly sent: SentEvents; readonly first: Batch } {
  const sent = new SentEvents();
  const random = new SeededRandom(runSeed());
  const [first] = Array.from({ length: 20 }, () => sent.draw('HTTP', random, NOW)) as [Batch];
  first.state = 'acknowledged';
  return { sent, first };
}

const linesOf = (batch: Batch): string[] => Array.from({ length: batch.count }, (_, index) => eventText(batch, index));

describe('a consumer of the feed', () => {
  test('that has every acknowledged event once, and any of the others, is right', () => {
    const { sent, first } = someBatches();
    const received = new Received(sent, 'all');
    for (const line of [...linesOf(first), ...linesOf(sent.batches[3] as Batch).slice(0, 1)]) received.add(line);
    received.requireAll(sent.acknowledged(), 0);
    expect(received.count).toBe(first.count + 1);
  });

  test('may lack what has expired, and what is of other zones', () => {
    const { sent, first } = someBatches();
    new Received(sent, 'all').requireAll(sent.acknowledged(), NOW);
    new Received(sent, [-1]).requireAll(sent.acknowledged(), 0);
    expect(() => new Received(sent, first.zones).requireAll(sent.acknowledged(), NOW - RETENTION_MS)).toThrow('the feed lacks t0-0');
  });

  const wrong: readonly (readonly [what: string, change: (lines: string[]) => string[], message: string])[] = [
    ['that lacks its last event', (lines) => lines.slice(0, -1), 'the feed lacks t0-'],
    ['that has an event twice', (lines) => [...lines, lines[0] ?? ''], 'the feed has t0-0 twice'],
    [
      'that has another event',
      (lines) => lines.map((line) => line.replace('"action"', '"reaction"')),
      'the feed has something else of t0-0',
    ],
    ['that has an event of no batch', (lines) => [...lines, '{"logId":"t99-0"}'], 'what was never sent: {"logId":"t99-0"}'],
    ['that has more events than were sent', (lines) => [...lines, '{"logId":"t0-99999"}'], 'what was never sent: {"logId":"t0-99999"}'],
  ];

  test.each(wrong)('%s is wrong', (_, change, message) => {
    const { sent, first } = someBatches();
    const read = (): void => {
      const received = new Received(sent, 'all');
      for (const line of change(linesOf(first))) received.add(line);
      received.requireAll(sent.acknowledged(), 0);
    };
    expect(read).toThrow(Difference);
    expect(read).toThrow(message);
  });

  test('is given no event of other zones', () => {
    const { sent, first } = someBatches();
    expect(() => new Received(sent, [-1]).add(eventText(first, 0))).toThrow('of a zone that nobody asked for');
  });
});

test('events are counted as one by one', () => {
  const { sent } = someBatches();
  const all = sent.batches.flatMap((batch) => Array.from({ length: batch.count }, (_, index) => sentEvent(batch, index)));
  const [fromMs, toMs] = [NOW - RETENTION_MS / 2, NOW - 30_000];
  const expected = all.filter(({ zone, timestamp }) => zone === 1 && timestamp >= fromMs && timestamp < toMs);
  expect(expected.length).toBeGreaterThan(0);
  expect(countEvents(sent.batches, ({ zone }) => zone === 1, fromMs, toMs)).toBe(expected.length);
  expect(countEvents(sent.batches, () => true)).toBe(all.length);
});

test('an event is as old as its batch says, and never of the future', () => {
  const { sent } = someBatches();
  const times = sent.batches.flatMap((batch) => Array.from({ length: batch.count }, (_, index) => sentEvent(batch, index).timestamp));
  expect(Math.max(...times)).toBeLessThan(NOW);
  expect(Math.min(...times)).toBeGreaterThan(NOW - RETENTION_MS);
});
