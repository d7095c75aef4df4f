import { expect, test } from 'vitest';
import { BATCH_COLUMNS } from '../../query/batch-columns.ts';
import { EVENT_FIELDS, EVENT_FIELDS_VERSION } from '../../query/event-fields.ts';
import { PACKED_FIELDS } from '../../query/packed-log.ts';

/** The columns and packed fields that each version of the table added. They are on disk: a line that was released never changes. */
const ADDED_BY_VERSION: Readonly<Record<number, { readonly columns: string; readonly packed: string }>> = {
  1: {
    columns:
      'shieldZoneId int32, timestamp int64, logIdBytes bytes, logIdText text, feature text, ' +
      'ruleId text, ruleName text, ip text, ja4 text, ua text, urlHead text, urlTail text, ' +
      'asn text, country text, action text, ipHigh uint64, ipLow uint64',
    packed: 'url ip ruleName ruleId',
  },
};

const versions = Array.from({ length: EVENT_FIELDS_VERSION }, (_, index) => index + 1);

test.each(versions)('version %i of the fields has the columns, in the order, that it was released with', (version) => {
  const columns = BATCH_COLUMNS.filter(({ since }) => since === version).map(({ name, type }) => `${name} ${type}`);
  expect(columns.join(', ')).toBe(ADDED_BY_VERSION[version]?.columns);
});

test('columns of a later version come after those of the earlier ones', () => {
  expect(BATCH_COLUMNS.map(({ since }) => since)).toEqual(BATCH_COLUMNS.map(({ since }) => since).toSorted((a, b) => a - b));
});

test('the marks of packed logs are those that the versions were released with', () => {
  expect(PACKED_FIELDS.join(' ')).toBe(
    versions
      .map((version) => ADDED_BY_VERSION[version]?.packed)
      .join(' ')
      .trim(),
  );
});

test('the marks of packed logs count up from 1', () => {
  const marks = EVENT_FIELDS.flatMap((field) => ('packedAs' in field ? [field.packedAs] : []));
  expect(marks.toSorted((a, b) => a - b)).toEqual(PACKED_FIELDS.map((_, index) => index + 1));
});

test.each(['zone', 'time', 'id', 'log', 'address', 'url', 'asNumber'])('one field has the rule %s, as the intake takes it', (wanted) => {
  expect(EVENT_FIELDS.filter(({ rule }) => rule === wanted).length).toBe(1);
});

test('a mask has a bit for each column and one more', () => {
  expect(BATCH_COLUMNS.length).toBeLessThanOrEqual(31);
});
