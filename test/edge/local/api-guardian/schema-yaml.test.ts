import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { schemaYaml } from '../../../../edge/local/api-guardian/schema-yaml.ts';
import { assertProperty } from '../../../random/assert-property.ts';

/** Texts that a reader of some version of YAML takes for something else where they are not quoted. */
const MISREAD = [
  ...['y', 'Y', 'n', 'N', 'yes', 'No', 'NO', 'on', 'On', 'OFF', 'true', 'False', 'null', 'Null', '~', ''],
  ...['e3', 'E10', 'e+3', 'E-07'],
  ...['2024-01-31', '2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43', '12:30', '190:20:30.15', '-1:30'],
  ...[
    '1_000',
    '0b101',
    '017',
    '0o17',
    '0x_1F',
    '1e3',
    '1.',
    '.5',
    '+1',
    '1,000',
    '._1',
    '.',
    '.inf',
    '-.INF',
    '.nan',
    '9223372036854775808',
  ],
  ...[
    '=',
    '<<',
    '-',
    '--- a',
    '...',
    '? a',
    'a: b',
    'a #b',
    '#a',
    '!a',
    '&a',
    '*a',
    '|',
    '>',
    '%a',
    '@a',
    '`a',
    '[a',
    '{a',
    ', a',
    "'a",
    '"a',
  ],
  ...[
    ' a',
    'a ',
    'a\nb',
    'a\n',
    '\ta',
    'a\rb',
    'a\u0085b',
    'a\u2028b',
    'a\u2029b',
    '\uFEFFa',
    'a\u007Fb',
    'a\u009Fb',
    'a\u0000b',
    'a\uFFFFb',
  ],
  ...['\u202Ea', 'a\\b', 'C:\\x', 'é', 'größe', '名', '😀', 'e\u0301'],
];

const VERSIONS = ['1.1', '1.2'] as const;

describe.each(VERSIONS)('a reader of YAML %s', (version) => {
  test.each(MISREAD)('takes %j for a text, in a list, as a value and as a name', (text) => {
    const schema = { enum: [text], default: text, properties: { [text]: { type: 'string' } } };
    expect(parse(schemaYaml(schema), { version, merge: true })).toEqual(schema);
  });

  test('takes any text for what it is', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[-+.:_0-9eExobnNyY \t]{0,12}$/));
    assertProperty(
      fc.property(fc.uniqueArray(text, { minLength: 1 }), (texts) => {
        const schema = { enum: texts, properties: Object.fromEntries(texts.map((name) => [name, { default: name }])) };
        expect(parse(schemaYaml(schema), { version, merge: true })).toEqual(schema);
      }),
    );
  });
});

test.each(['NO', 'on', '2024-01-31', '1_000', '12:30', '=', 'y', '<<', 'e3', 'E+10'])('%s is quoted', (text) => {
  expect(schemaYaml([text])).toBe(`- "${text}"\n`);
  expect(schemaYaml({ [text]: text })).toBe(`"${text}": "${text}"\n`);
});

test.each(['\u0085', '\u2028', '\u2029', '\uFEFF', '\u007F', '\u009F', '\uFFFE'])(
  '%j, which YAML 1.1 reads otherwise or not at all, is escaped',
  (sign) => {
    expect(schemaYaml([`a${sign}b`])).toBe(`- "a\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}b"\n`);
  },
);

test.each(['string', 'date-time', 'application/json', 'X-Trace', 'user name', '$ref', 'v1.2', 'größe', 'e3a', 'the3', 'e'])(
  '%s stays plain',
  (text) => {
    expect(schemaYaml({ [text]: text })).toBe(`${text}: ${text}\n`);
  },
);

test('a name of more than a thousand letters is one', () => {
  const schema = { properties: { ['n'.repeat(3_000)]: { type: 'string' } } };
  for (const version of VERSIONS) expect(parse(schemaYaml(schema), { version })).toEqual(schema);
});
