import fc from 'fast-check';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import { maskedAddress } from '../../property/arbitrary-address.ts';
import { anyObject } from './arbitrary-raw-event.ts';
import { HOUR, NOW } from './raw-events.ts';

const blank = fc.constantFrom('', '', '', '', ' ', '  ');

/** Texts up to about the length that is read at once, some with characters of several bytes and escapes. */
const text = fc
  .array(fc.oneof({ weight: 6, arbitrary: fc.string({ maxLength: 20 }) }, fc.string({ unit: 'grapheme', maxLength: 8 })), { maxLength: 3 })
  .map((parts) => JSON.stringify(parts.join('')));

/** The same with a slash in an escape, as some write it, or with all of it in escapes. */
const escapedText = fc.tuple(text, text).map(([plain, other]) => {
  const units = [...Array(JSON.parse(other).length).keys()].map((index) => (JSON.parse(other) as string).charCodeAt(index));
  return `${plain.slice(0, -1)}\\/${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
});

const hex = (length: number) => fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const logId = fc.oneof(
  { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 40 }) },
  hex(32),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.tuple(hex(31), fc.constantFrom(...'Fg/:`@')).map((parts) => parts.join('')),
);

const address = fc.oneof(
  maskedAddress,
  fc.ipV4(),
  fc.ipV6().filter((ip) => !ip.includes('.')),
  fc.ipV6().map((ip) => (ip.includes('.') ? '::' : ip.toUpperCase())),
);

const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  logId: logId.map((id) => `"${id.replaceAll(/["\\]/g, '_')}"`),
  shieldZoneId: fc.nat().map(String),
  timestamp: fc.integer({ min: NOW - 72 * HOUR, max: NOW + 600_000 }).map(String),
  log: anyObject.map((object) => object.replaceAll(/[\t\r\n]/g, ' ')),
  url: fc.oneof(
    text,
    escapedText,
    fc.tuple(text, text).map(([path, query]) => `${path.slice(0, -1)}?${query.slice(1)}`),
  ),
  ua: fc.oneof(text, escapedText),
  ip: address.map((ip) => `"${ip}"`),
  asn: fc.nat(999_999_999).map((digits) => `"${digits}"`),
};

const member = (name: string) =>
  fc.tuple(blank, blank, blank, VALUES[name] ?? text, blank).map(([a, b, c, value, d]) => `${a}"${name}"${b}:${c}${value}${d}`);

/** An event as producers usually send it: the fields in any order, no rule broken, nothing that has to be put together anew. */
export const arbitraryUsualEvent: fc.Arbitrary<string> = fc
  .tuple(
    fc.tuple(...['shieldZoneId', 'timestamp', 'log'].map(member)),
    fc.subarray(['logId', ...TEXT_FIELDS]).chain((names) => fc.tuple(...names.map(member))),
    fc.tuple(blank, blank),
  )
  .chain(([required, others, [before, after]]) => {
    const members = [...required, ...others];
    const shuffled = fc.shuffledSubarray(members, { minLength: members.length });
    return shuffled.map((inOrder) => `${before}{${inOrder.join(',')}}${after}`);
  });
