import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LowestEvents, type PackedEvents, SPAN_NUMBERS } from '../../../../store/embedded/feed/lowest-events.ts';
import { KNOWN_IN_TIME } from '../../../fixtures/known-in-time.ts';
import { assertProperty } from '../../../random/assert-property.ts';

const anyLength = fc.oneof(
  { weight: 20, arbitrary: fc.nat({ max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 200_000 }) },
);
const anyEvents = fc.array(fc.record({ head: anyLength, log: anyLength, sortKey: fc.double({ min: 0, max: 1, noNaN: true }) }), {
  minLength: 1,
  maxLength: 300,
});

/** Sequences begin far above 0. */
const AFTER = 2n ** 60n;
const UP_TO = AFTER + 1_000_000n;

/** The kept bytes of each event, in order. */
function eventsIn({ count, after, sequences, bytes, spans }: PackedEvents) {
  return Array.from({ length: count }, (_, index) => {
    const [headStart, headEnd, logStart, logEnd] = spans.subarray(index * SPAN_NUMBERS);
    return {
      sequence: after + BigInt(sequences[index] as number),
      head: bytes.subarray(headStart, headEnd),
      log: bytes.subarray(logStart, logEnd),
    };
  });
}

test('the lowest events are kept whole, as many as fit, whatever the order in which they and their logs come', () => {
  assertProperty(
    fc.property(anyEvents, fc.integer({ min: 1, max: 300_000 }), (lengths, maxBytes) => {
      const events = lengths.map(({ head, log, sortKey }, index) => {
        const text = String(index);
        const sequence = AFTER + BigInt(index + 1);
        return { sequence, head: Buffer.alloc(head + 1, `h${text}`), log: Buffer.alloc(log, `l${text}`), sortKey };
      });
      const lowest = new LowestEvents({ after: AFTER, upTo: UP_TO, maxBytes });
      for (const { sequence, head } of events.toSorted((a, b) => a.sortKey - b.sortKey)) lowest.add(sequence, -sequence, head);
      const added = [...lowest.blobPointers].map((pointer, index) => ({ index, sequence: lowest.sequenceOf(index), pointer }));
      expect(added.every(({ sequence, pointer }) => pointer === -sequence)).toBe(true);
      for (const { index, sequence } of added.toSorted((a, b) => (a.sequence > b.sequence ? -1 : 1)))
        lowest.addLog(index, events[Number(sequence - AFTER) - 1]?.log ?? Buffer.alloc(0));
      const kept = eventsIn(lowest.sorted());
      expect(kept.map(({ sequence }) => sequence)).toEqual(events.slice(0, kept.length).map(({ sequence }) => sequence));
      for (const [index, { head, log }] of kept.entries()) {
        expect(events[index]?.head.equals(head) && events[index]?.log.equals(log)).toBe(true);
      }
      expect(lowest.upTo).toBe(kept.length === events.length ? UP_TO : kept.at(-1)?.sequence);
      const bytes = kept.reduce((sum, { head, log }) => sum + head.length + log.length, 0);
      expect(kept.length === 1 || bytes <= maxBytes).toBe(true);
      // No event is dropped without need.
      const whole = events.reduce((sum, { head, log }) => sum + head.length + log.length + 64, 0);
      expect(kept.length === events.length || whole > maxBytes).toBe(true);
    }),
    KNOWN_IN_TIME,
  );
});
