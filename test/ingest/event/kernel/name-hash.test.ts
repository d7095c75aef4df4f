import { expect, test } from 'vitest';
import { findNameHash, NAME_SLOTS } from '../../../../ingest/event/kernel/name-hash.ts';
import { EVENT_FIELDS } from '../../../../query/event-fields.ts';

const names: readonly string[] = EVENT_FIELDS.map(({ name }) => name);

test('every name of a field has a slot of its own, also one of the length and with the last character of another', () => {
  const all = [...names, 'xuleId'];
  const { lengthFactor, firstFactor } = findNameHash(all);
  const slots = all.map(
    (name) => (name.length * lengthFactor + name.charCodeAt(0) * firstFactor + name.charCodeAt(name.length - 1)) % NAME_SLOTS,
  );
  expect(new Set(slots).size).toBe(all.length);
});

test('two names that the kernel cannot tell apart fail the build', () => {
  expect(() => findNameHash([...names, 'r____d'])).toThrow(
    'the kernel tells field names apart by length, first and last character, which does not separate ruleId, r____d',
  );
});

test.each(['a name of seventeen', 'größe', ''])('the name %j is not for the kernel', (name) => {
  expect(() => findNameHash([...names, name])).toThrow(`the field name ${JSON.stringify(name)} is not of 1 to 16 characters of ASCII`);
});
