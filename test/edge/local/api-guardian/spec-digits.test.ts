import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';
import { assertAsyncProperty } from '../../../random/assert-property.ts';
import { answeredSchema, answering } from './specification.ts';

/** A specification in JSON whose schema has this text as the value of a keyword. */
function withText(keyword: string, value: string): string {
  return JSON.stringify(answering({ [keyword]: 'HERE' })).replace('"HERE"', value);
}

/** The same in YAML. */
const yamlWithText = (keyword: string, value: string): string => `
openapi: 3.0.0
info: {title: T, version: '1'}
paths: {/a: {get: {responses: {'200': {description: '', content: {application/json: {schema: {${keyword}: ${value}}}}}}}}}
`;

const LARGE = '9223372036854775807';
const NUMERIC = ['multipleOf', 'maximum', 'minimum', 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'];

describe('digits that a double does not hold are kept', () => {
  test.each([...NUMERIC, 'default'].flatMap((keyword) => [`JSON as ${keyword}`, `YAML as ${keyword}`]))('in %s', async (place) => {
    const keyword = place.split(' ').at(-1) ?? '';
    const text = place.startsWith('JSON') ? withText(keyword, LARGE) : yamlWithText(keyword, LARGE);
    expect(await answeredSchema(text)).toBe(`${keyword}: ${LARGE}\n`);
  });

  test.each([withText, yamlWithText])('in enumerations, whose values stay apart (%#)', async (write) => {
    const ids = ['1234567890123456789', '1234567890123456788'];
    expect(await answeredSchema(write('enum', `[${ids.join(', ')}]`))).toBe(`enum:\n  - ${ids.join('\n  - ')}\n`);
  });

  test.each([withText, yamlWithText])('in data of a default (%#)', async (write) => {
    const text = write('default', '{"id": 12345678901234567890, "ratios": [0.10000000000000000001]}');
    expect(await answeredSchema(text)).toBe('default:\n  id: 12345678901234567890\n  ratios:\n    - 0.10000000000000000001\n');
  });

  test.each([
    ['-9223372036854775808', '-9223372036854775808'],
    ['0.30000000000000000001', '0.30000000000000000001'],
    ['5.0', '5.0'],
    ['-0', '-0'],
    // YAML 1.1 reads `1e400` as a text.
    ['1e400', '1.0e+400'],
    ['-2.50E6', '-2.50e+6'],
    ['1e-400', '1.0e-400'],
  ])('of %s in JSON', async (written, expected) => {
    expect(await answeredSchema(withText('maximum', written))).toBe(`maximum: ${expected}\n`);
  });

  test.each([
    ['0x7FFFFFFFFFFFFFFF', LARGE],
    ['0o777777777777777777777', LARGE],
    [`+${LARGE}`, LARGE],
    ['0009007199254740993', '9007199254740993'],
    ['.50000000000000000001', '0.50000000000000000001'],
    ['7.', '7.0'],
    ['1e400', '1.0e+400'],
    ['-9e999', '-9.0e+999'],
    ['1.7976931348623159e308', '1.7976931348623159e+308'],
    ['!!float 1', '1'],
    ['!!float "-12345678901234567890.50"', '-12345678901234567890.50'],
    ['!!int "0x1F"', '31'],
  ])('of %s in YAML, as the decimal number that every reader takes it for', async (written, expected) => {
    expect(await answeredSchema(yamlWithText('maximum', written))).toBe(`maximum: ${expected}\n`);
  });

  test('in YAML that says it is of version 1.1', async () => {
    const text = yamlWithText('enum', '[1_234_567_890_123_456_789, 0b11, 010, 12:30, 1_000.5]');
    expect(await answeredSchema(`%YAML 1.1\n---${text}`)).toBe('enum:\n  - 1234567890123456789\n  - 3\n  - 8\n  - 750\n  - 1000.5\n');
  });

  test.each(['.inf', '-.Inf', '.nan', '!!float -.inf', '!!float 1e', '!!float abc'])('but %s is no number', async (written) => {
    await expect(readSpec(yamlWithText('maximum', written))).rejects.toThrow(/schema\/maximum: .* (?:is not a JSON value|must be number)/);
  });

  test('in names that YAML takes for numbers', async () => {
    const text = yamlWithText('properties', '{12345678901234567890: {type: string}, 1.0: {type: string}, 0x10: {type: string}}');
    const expected = { '12345678901234567890': { type: 'string' }, '1.0': { type: 'string' }, '0x10': { type: 'string' } };
    expect(parse((await answeredSchema(text)) ?? '')).toEqual({ properties: expected });
  });

  test('in the message about a number in the wrong place', async () => {
    await expect(readSpec(withText('type', LARGE))).rejects.toThrow(`schema/type: ${LARGE} must be`);
    await expect(readSpec(`{"openapi": ${LARGE}}`)).rejects.toThrow(`#/openapi: ${LARGE} is not the text`);
  });

  test('of any number that JSON has', async () => {
    const digits = fc.stringMatching(/^(?:0|[1-9]\d{0,40})$/);
    const number = fc
      .tuple(fc.constantFrom('', '-'), digits, fc.option(fc.stringMatching(/^\d{1,40}$/)), fc.option(fc.integer({ min: -500, max: 500 })))
      .map(([sign, whole, fraction, power]) => ({ sign, whole, fraction, power }));
    await assertAsyncProperty(
      fc.asyncProperty(fc.array(number, { minLength: 1, maxLength: 50 }), async (numbers) => {
        const json = numbers.map(
          ({ sign, whole, fraction, power }) =>
            `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${power === null ? '' : `E${power}`}`,
        );
        const expected = numbers.map(({ sign, whole, fraction, power }) => {
          const part = fraction === null && power === null ? '' : `.${fraction ?? '0'}`;
          return `${sign}${whole}${part}${power === null ? '' : `e${power < 0 ? '' : '+'}${power}`}`;
        });
        const yaml = `enum:\n  - ${expected.join('\n  - ')}\n`;
        expect(await answeredSchema(withText('enum', `[${json}]`))).toBe(yaml);
        for (const version of ['1.1', '1.2'] as const) {
          const read = parse(yaml, { version }).enum;
          expect(read).toEqual(json.map(Number));
        }
      }),
      { numRuns: 20 },
    );
  });
});

test('lists without end inside one another are refused', async () => {
  const depth = 400_000;
  const text = `{"openapi": ${'['.repeat(depth)}${']'.repeat(depth)}}`;
  await expect(readSpec(text)).rejects.toThrow('nested more than 100 deep');
});
