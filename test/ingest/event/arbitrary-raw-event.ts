import fc from 'fast-check';
import { EVENT_FIELDS } from '../../../query/event-fields.ts';
import { maskedAddress } from '../../property/arbitrary-address.ts';
import { HOUR, NOW } from './raw-events.ts';

/** JSON as text, not as a value: blanks, escapes, repeated names and numbers of every form are what the intake must cope with. */
const blank = fc.constantFrom('', '', '', '', ' ', '\n', '\r\n', '\t  ');

const escapedFully = (text: string) =>
  `"${[...Array(text.length).keys()].map((index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`).join('')}"`;

const plainText = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', 'a', 'b', '__proto__', 'ipLow', '\0', '\\', '"'),
  // Halves of surrogate pairs, which are written as escapes.
  fc.constantFrom('\ud83d', '\udc00x', '\udc00\ud83d', '\ud83d\ud83d\ude00'),
);
const written = (text: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 6, arbitrary: text.map((value) => JSON.stringify(value)) }, { weight: 1, arbitrary: text.map(escapedFully) });

/**
 * Names hold no backslash: once V8 (Node 24.21) has seen a member named `\\`, `JSON.parse` of a name written with an escape at the same
 * index of an object may return that one, and the oracle relies on `JSON.parse`.
 */
const nameText = plainText.filter((text) => !text.includes('\\'));

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }).map(String),
  fc.constantFrom('-0', '0.0', '1e5', '1E-7', '-1.50e+3', '1e999', '1e-999'),
);

const list = (open: string, items: fc.Arbitrary<string[]>, close: string) =>
  fc.tuple(blank, blank, items).map(([before, after, texts]) => `${open}${before}${texts.join(`${after},${before}`)}${after}${close}`);
const member = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.tuple(key, blank, blank, value).map(([name, before, after, text]) => `${name}${before}:${after}${text}`);

const { object: anyObject, value: anyValue } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    written(plainText),
    numberText,
    fc.constantFrom('null', 'true', 'false', '""'),
    list('[', fc.array(tie('value'), { maxLength: 3 }), ']'),
    tie('object'),
  ),
  object: list('{', fc.array(member(written(nameText), tie('value')), { maxLength: 4 }), '}'),
}));

export { anyObject };

const usualAddress = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4Extended(),
  fc.constantFrom('::ffff:1.2.3.4', '01.2.3.4', '1.2.3.4.5', 'fe80::1%eth0', '', '1.2.*', '1:2:3::*', '1:2:3:4:5:*'),
  maskedAddress,
);
const port = fc.oneof(fc.nat(70_000).map(String), fc.constantFrom('', '00080', '-1'));
const address = fc.oneof(
  { weight: 4, arbitrary: usualAddress },
  fc.tuple(fc.ipV4(), port).map((parts) => parts.join(':')),
  fc.tuple(usualAddress, port).map(([ip, number]) => `[${ip}]:${number}`),
  fc.tuple(fc.constantFrom('', ' ', '\t'), usualAddress, fc.constantFrom('', ' ', ':80 ', ', ::1')).map((parts) => parts.join('')),
);
const timestamp = fc.integer({ min: NOW - 73 * HOUR, max: NOW + 700_000 });

/** Mostly what is right for the field. */
const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  logId: written(plainText.filter((text) => text !== '')),
  shieldZoneId: fc.oneof(fc.integer().map(String), fc.constantFrom('-0', '1', '7', '"7"', '"007"', '"-7"', '"2147483648"')),
  timestamp: fc.oneof(
    timestamp.map(String),
    timestamp.map((time) => `"${time}"`),
    fc.tuple(timestamp, fc.constantFrom('', '.5')).map(([time, fraction]) => `"${Math.floor(time / 1000)}${fraction}"`),
    timestamp.map((time) => `${time}.0`),
    timestamp.map((time) => `${time / 1000}e3`),
    fc.tuple(timestamp, fc.constantFrom(1e-3, 1e3, 1e6)).map(([time, factor]) => String(time * factor)),
    timestamp.map((time) => JSON.stringify(new Date(time).toISOString())),
  ),
  ip: written(address),
  asn: fc.oneof(
    fc.nat().map(String),
    fc.nat().map((digits) => `"AS${digits}"`),
    fc.nat().map((digits) => `"0${digits}"`),
    fc.nat().map((digits) => `"${digits}"`),
    fc.constantFrom('""', '"AS"'),
  ),
  log: anyObject,
};

const fieldMember = (name: string) =>
  member(
    fc.oneof({ weight: 9, arbitrary: fc.constant(`"${name}"`) }, { weight: 1, arbitrary: fc.constant(escapedFully(name)) }),
    fc.oneof(
      { weight: 30, arbitrary: VALUES[name] ?? written(plainText) },
      { weight: 2, arbitrary: numberText },
      { weight: 1, arbitrary: fc.constant('null') },
      { weight: 1, arbitrary: anyValue },
    ),
  );

const required = ['logId', 'shieldZoneId', 'timestamp', 'log'];

/** An event as a producer might send it: most are accepted, some break a rule, all are JSON objects. */
export const arbitraryRawEvent: fc.Arbitrary<string> = fc
  .tuple(
    fc.tuple(...required.map((name) => fc.option(fieldMember(name), { freq: 12 }))),
    fc.array(fc.constantFrom(...EVENT_FIELDS.map(({ name }) => name)).chain(fieldMember), { maxLength: 6 }),
    fc.array(member(written(nameText), anyValue), { maxLength: 2 }),
    fc.tuple(blank, blank, fc.constantFrom('', '', '', '\ufeff')),
  )
  .chain(([first, more, unknown, [before, after, mark]]) =>
    list(
      '{',
      fc.shuffledSubarray([...first.filter((text) => text !== null), ...more, ...unknown], {
        minLength: first.filter((text) => text !== null).length + more.length + unknown.length,
      }),
      '}',
    ).map((object) => `${mark}${before}${object}${after}`),
  );
