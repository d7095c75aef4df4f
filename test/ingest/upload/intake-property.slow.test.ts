import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import { assertProperty } from '../../random/assert-property.ts';
import { arbitraryRawEvent } from '../event/arbitrary-raw-event.ts';
import { loadedEvents } from '../event/loaded-events.ts';
import { RULES } from '../event/raw-events.ts';
import { expectedOf } from './intake-oracle.ts';

const digestOf = (event: string) =>
  createHash('sha256')
    .update(event.replace(/^\ufeff/, '').trim())
    .digest('hex')
    .slice(0, 32);

test('random events are taken in as JSON.parse and the rules say', () => {
  assertProperty(
    fc.property(fc.array(arbitraryRawEvent, { minLength: 20, maxLength: 40 }), (events) => {
      const builder = new BatchBuilder(RULES);
      const expected = events.map((event) => expectedOf(event, digestOf(event)));
      const verdicts = events.map((event) => builder.addEvent('file', Buffer.from(event)));
      for (const [index, verdict] of verdicts.entries()) {
        expect(verdict.kind, `${events[index]} ${JSON.stringify(verdict)}`).toBe(expected[index]?.kind);
      }
      const accepted = expected.flatMap((one) => (one.kind === 'accepted' ? [one.event] : []));
      const loaded = loadedEvents(builder.take());
      expect(loaded).toEqual(accepted);
    }),
    { numRuns: 60 },
  );
});

test('what JSON.parse refuses is refused, and the other way round', () => {
  // Small damage to valid events: most of it makes them invalid, some does not.
  const damage = fc.tuple(fc.nat(), fc.constantFrom(...'{}[]:,"\\ue0-+.1a \n\0\x7fé'), fc.boolean());
  assertProperty(
    fc.property(arbitraryRawEvent, fc.array(damage, { minLength: 1, maxLength: 3 }), (event, damages) => {
      const text = damages.reduce((damaged, [at, character, insert]) => {
        const index = at % (damaged.length + 1);
        return damaged.slice(0, index) + character + damaged.slice(insert ? index : index + 1);
      }, event);
      const verdict = new BatchBuilder(RULES).addEvent('file', Buffer.from(text));
      const notJson = verdict.kind === 'rejected' && /not JSON/.test(verdict.reason);
      let parses = true;
      try {
        JSON.parse(
          Buffer.from(text)
            .toString('utf8')
            .replace(/^\ufeff/, ''),
        );
      } catch {
        parses = false;
      }
      expect(notJson, `${JSON.stringify(text)} ${JSON.stringify(verdict)}`).toBe(!parses);
    }),
    { numRuns: 4000 },
  );
});
