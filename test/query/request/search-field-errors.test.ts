import { describe, expect, it } from 'vitest';
import { DIMENSIONS } from '../../../query/event-fields.ts';
import { errorsWith } from './compile-text.ts';

const PROPERTIES = 'from, to, query, filters, groupBy, buckets, page, pageSize';
const DIMENSION_NAMES = DIMENSIONS.join(', ');
const INT32 = 'an integer from -2147483648 to 2147483647';

const clause = (fields: object) => ({ filters: [{ field: 'ip', op: 'eq', value: ['x'], ...fields }] });

describe('a search that is refused', () => {
  describe('because of a field', () => {
    it.each<[string, object, string, string]>([
      ['an unknown property', { limit: 5 }, 'limit', `is not a property of this object; allowed are ${PROPERTIES}`],
      ['a property in another case', { From: 5 }, 'From', `is not a property of this object; allowed are ${PROPERTIES}`],
      ['a property without a name', { '': 5 }, '[""]', `is not a property of this object; allowed are ${PROPERTIES}`],
      ['an odd property', { 'a b': 5 }, '["a b"]', `is not a property of this object; allowed are ${PROPERTIES}`],
      ['a query that is no string', { query: 5 }, 'query', 'must be a string, not 5'],
      ['a query of half a pair', { query: 'a\ud800' }, 'query', 'must be Unicode text, without half a surrogate pair: "a\\ud800"'],
      ['filters that are no list', { filters: {} }, 'filters', 'must be an array of filter clauses, not an object'],
      ['a filter that is no object', { filters: ['ip'] }, 'filters[0]', 'must be an object with the properties field, op, value, not "ip"'],
      ['a filter that is null', { filters: [null] }, 'filters[0]', 'must be an object with the properties field, op, value, not null'],
      [
        'an unknown property of a filter',
        clause({ values: [] }),
        'filters[0].values',
        'is not a property of this object; allowed are field, op, value',
      ],
      [
        'an odd property of a filter',
        clause({ 'a.b': 1 }),
        'filters[0]["a.b"]',
        'is not a property of this object; allowed are field, op, value',
      ],
      ['a filter with a null field', clause({ field: null }), 'filters[0].field', `must be one of ${DIMENSION_NAMES}, not null`],
      ['a filter without a field', clause({ field: undefined }), 'filters[0].field', `must be one of ${DIMENSION_NAMES}, not nothing`],
      [
        'a field that is not searchable',
        clause({ field: 'ruleName' }),
        'filters[0].field',
        `must be one of ${DIMENSION_NAMES}, not "ruleName"`,
      ],
      ['a field in another case', clause({ field: 'IP' }), 'filters[0].field', `must be one of ${DIMENSION_NAMES}, not "IP"`],
      [
        'a field of the prototype',
        clause({ field: 'constructor' }),
        'filters[0].field',
        `must be one of ${DIMENSION_NAMES}, not "constructor"`,
      ],
      ['a null op', clause({ op: null }), 'filters[0].op', 'must be one of eq, in, contains, cidr, wildcard, not null'],
      ['an unknown op', clause({ op: 'EQ' }), 'filters[0].op', 'must be one of eq, in, contains, cidr, wildcard, not "EQ"'],
      ['a null value', clause({ value: null }), 'filters[0].value', 'must be an array of strings, at least one, not null'],
      ['no value', clause({ value: undefined }), 'filters[0].value', 'must be an array of strings, at least one, not null'],
      ['an empty value', clause({ value: [] }), 'filters[0].value', 'must have at least one string'],
      ['a bare string', clause({ value: '1.2.3.4' }), 'filters[0].value', 'must be an array of strings, at least one, not "1.2.3.4"'],
      ['an alternative that is null', clause({ value: ['a', null] }), 'filters[0].value[1]', 'must be a string, not null'],
      ['an alternative that is a number', clause({ value: [1e21] }), 'filters[0].value[0]', 'must be a string, not 1e+21'],
      [
        'an alternative of half a pair',
        clause({ value: ['\udc00'] }),
        'filters[0].value[0]',
        'must be Unicode text, without half a surrogate pair: "\\udc00"',
      ],
      [
        'an empty needle',
        clause({ op: 'contains', value: ['a', ''] }),
        'filters[0].value[1]',
        'must not be empty: every value contains "", so it would ask for nothing',
      ],
      [
        'cidr on another field',
        clause({ field: 'ua', op: 'cidr', value: ['10.0.0.0/8'] }),
        'filters[0].op',
        'must not be cidr on the field ua: only ip has addresses',
      ],
      [
        'a range that is none',
        clause({ op: 'cidr', value: ['10.0.0.0/8', '10.0.0/8'] }),
        'filters[0].value[1]',
        'is no IPv4 or IPv6 address with an optional prefix length, such as 10.0.0.0/8 or 2001:db8::/32, not "10.0.0/8"',
      ],
      [
        'a prefix past the end',
        clause({ op: 'cidr', value: ['10.0.0.0/33'] }),
        'filters[0].value[0]',
        'needs a prefix length of 0 to 32 in decimal digits, not "10.0.0.0/33"',
      ],
      ['a groupBy that is no list', { groupBy: 'ip' }, 'groupBy', 'must be an array of dimensions, not "ip"'],
      ['a dimension that is null', { groupBy: [null] }, 'groupBy[0]', `must be one of ${DIMENSION_NAMES}, not null`],
      ['an unknown dimension', { groupBy: ['ip', 'ruleName'] }, 'groupBy[1]', `must be one of ${DIMENSION_NAMES}, not "ruleName"`],
      ['a repeated dimension', { groupBy: ['ip', 'ua', 'ip'] }, 'groupBy[2]', 'must not repeat a dimension, as "ip" does'],
      [
        'more dimensions than there are',
        { groupBy: [...DIMENSIONS, 'ip'] },
        'groupBy',
        `must have at most ${DIMENSIONS.length} elements, not ${DIMENSIONS.length + 1}`,
      ],
      ['a fraction of buckets', { buckets: 1.5 }, 'buckets', `must be ${INT32}, not 1.5`],
      ['too many buckets for an int32', { buckets: 2_147_483_648 }, 'buckets', `must be ${INT32}, not 2147483648`],
      ['a page below zero', { page: -1 }, 'page', 'must be an integer from 0 to 2147483647, not -1'],
      ['a page past int32', { page: 2_147_483_648 }, 'page', 'must be an integer from 0 to 2147483647, not 2147483648'],
      ['a page that is text', { page: '1' }, 'page', 'must be an integer from 0 to 2147483647, not "1"'],
      ['a pageSize that is a boolean', { pageSize: true }, 'pageSize', `must be ${INT32}, not true`],
      ['a pageSize past int32', { pageSize: -2_147_483_649 }, 'pageSize', `must be ${INT32}, not -2147483649`],
    ])('names the field, the value and what is allowed of %s', (_, fields, field, message) => {
      expect(errorsWith(fields)).toEqual([{ field, message }]);
    });
  });
});
