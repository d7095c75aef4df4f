import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LowestEvents } from '../../../../store/embedded/feed/lowest-events.ts';
import { KNOWN_IN_TIME } from '../../../fixtures/known-in-time.ts';

const anyLength = fc.oneof(
  { weight: 20, arbitrary: fc.nat({ max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 200_000 }) },
);
const anyEvents = fc.array(fc.record({ head: anyLength, log: anyLength, place: fc.double({ min: 0, max: 1, noNaN: true }) }), {
  minLength: 1,
  maxLength: 300,
});

test('the lowest events are kept whole, as many as fit, whatever the order in which they and their logs come', () => {
  fc.assert(
    fc.property(anyEvents, fc.integer({ min: 1, max: 300_000 }), (lengths, maxBytes) => {
      const events = lengths.map(({ head, log, place }, index) => {
        const text = String(index);
        return { sequence: BigInt(index + 1), head: Buffer.alloc(head, `h${text}`), log: Buffer.alloc(log, `l${text}`), place };
      });
      const lowest = new LowestEvents(maxBytes, 1_000_000n);
      const inAnyOrder = events.toSorted((a, b) => a.place - b.place);
      for (const { sequence, head } of inAnyOrder) lowest.add(sequence, -sequence, head);
      const heads = [...lowest.sorted()];
      for (const event of heads.toReversed()) lowest.addLog(event, events[Number(event.sequence) - 1]?.log ?? Buffer.alloc(0));
      const kept = lowest.sorted();
      expect(kept.map(({ sequence }) => sequence)).toEqual(events.slice(0, kept.length).map(({ sequence }) => sequence));
      for (const [index, { head, log, blobPointer, sequence }] of kept.entries()) {
        expect(blobPointer).toBe(-sequence);
        expect(events[index]?.head.equals(head) && log && events[index]?.log.equals(log)).toBe(true);
      }
      expect(lowest.upTo).toBe(kept.length === events.length ? 1_000_000n : kept.at(-1)?.sequence);
      const bytes = kept.reduce((sum, { head, log }) => sum + head.length + (log?.length ?? 0), 0);
      expect(kept.length === 1 || bytes <= maxBytes).toBe(true);
    }),
    KNOWN_IN_TIME,
  );
});
