import fc from 'fast-check';
import { PACKED_FIELDS } from '../../../query/packed-log.ts';
import { NOW } from './raw-events.ts';

/** The lengths at which something changes: too short, just long enough, around the 16 bytes that are compared at once. */
const length = fc.oneof(fc.constantFrom(0, 5, 6, 7, 15, 16, 17, 32, 33, 64, 65), fc.nat(100));

/** Few different letters, so that values overlap each other and themselves. */
const letters = fc.constantFrom('a', 'ab', 'aab', 'abcdefgh', 'aaaaaaa.*+?^$b', 'aé', '€😀', 'a"', 'a\\n', '\x7f\u2028', 'a\t');

const text = fc.oneof(
  fc.tuple(letters, length, fc.nat(2)).map(([unit, wanted, skipped]) => [...unit.repeat(wanted)].slice(skipped, wanted + skipped).join('')),
  fc.tuple(letters, letters, length).map(([unit, other, wanted]) => `${unit.repeat(wanted).slice(0, wanted)}${other}`.toWellFormed()),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('https://example.com/a?b=c', '942100', 'SQL injection'),
);

const address = fc.oneof(
  fc.constantFrom('1.2.3.4', '203.0.113.9', '111.111.111.111', '1::', 'aa::aaaa', 'aaaa:aaaa:aaaa:aaaa::aaaa'),
  fc.ipV4(),
);

type Texts = Readonly<Record<(typeof PACKED_FIELDS)[number], string>>;

/** Some of the values in others: the address in the url, the name of the rule as the end of the url. */
const texts: fc.Arbitrary<Texts> = fc
  .tuple(fc.record({ url: text, ip: address, ruleName: text, ruleId: text }), fc.nat(7))
  .map(([{ url, ip, ruleName, ruleId }, how]) => ({
    ip,
    ruleId: (how & 1) === 0 ? ruleId : ruleName,
    ruleName: (how & 2) === 0 ? ruleName : url.slice(url.length / 2).toWellFormed(),
    url: (how & 4) === 0 ? url : `${url}${ip}${ruleName}`,
  }));

/** Draws parts of a log: whole values, values without an end, and values twice in a row. */
function partsOf(values: Texts): fc.Arbitrary<string> {
  const value = fc.constantFrom(...PACKED_FIELDS.map((name) => values[name]));
  return fc.oneof(
    { weight: 4, arbitrary: value },
    value.map((whole) => whole.repeat(2)),
    fc.tuple(value, fc.nat(40)).map(([whole, cut]) => whole.slice(cut).toWellFormed()),
    fc.tuple(value, fc.nat(40)).map(([whole, cut]) => whole.slice(0, -cut - 1).toWellFormed()),
    fc.string({ maxLength: 40 }),
    text,
  );
}

function logOf(values: Texts): fc.Arbitrary<unknown> {
  const written = fc.array(partsOf(values), { maxLength: 5 }).map((parts) => parts.join(''));
  return fc.dictionary(written, fc.oneof(written, fc.array(written, { maxLength: 3 }), fc.integer(), fc.constant(null)), { maxKeys: 4 });
}

export interface RepeatingEvent {
  /** JSON. */
  readonly event: string;
  /** Its log as it is in there. */
  readonly log: string;
  readonly values: Readonly<Partial<Texts>>;
}

/** A usual event whose log repeats values of its fields, whole and in part. */
export const arbitraryRepeatingEvent: fc.Arbitrary<RepeatingEvent> = texts.chain((all) =>
  fc.tuple(logOf(all), fc.subarray([...PACKED_FIELDS]), fc.nat(3), fc.nat(6)).map(([contents, names, indent, index]) => {
    const log = JSON.stringify(contents, null, ' '.repeat(indent)).replaceAll('\n', ' ');
    const values: Partial<Texts> = Object.fromEntries(names.map((name) => [name, all[name]]));
    const fields = { logId: 'a', ...values, shieldZoneId: 7, timestamp: NOW };
    const members = Object.entries(fields).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return { event: `{${members.toSpliced(index, 0, `"log":${log}`).join(',')}}`, log, values };
  }),
);
