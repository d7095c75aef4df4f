import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { csvCell } from '../../../query/csv-cell.ts';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import { csvColumns, csvWriter } from '../../../src/export/export-format.ts';
import { joinParts } from '../../../src/http/answer-writes.ts';
import { facetsFile, fileName, groupsFile } from '../../../web/files/group-lines.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';

const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\nx', '  =1', ' \0=1', '\ufeff＠x', 'a;b', '1-1', 'a=b', "'=1"];
const TEXTS = [...HOSTILE_STRINGS.map(({ text }) => text), ...FORMULAS];

const CONTEXT = { country: 'NL', asn: '64510', blocked: 3, challenged: 0, logged: 1, features: 'bot,waf', ruleIds: '' };

const group = (value: string) => ({
  key: { url: value, country: 'DE' },
  count: 4,
  firstSeen: 0,
  lastSeen: 1_700_000_000_001,
  context: CONTEXT,
  sparkline: [1, 0, 3],
});

test('a cell is written as the export writes it', () => {
  for (const text of TEXTS) {
    const record = joinParts(
      csvWriter(csvColumns(false))({ zoneId: 7, logId: text, timestamp: 0, log: Buffer.from('{}'), fields: {} }),
    ).toString();
    expect(record.slice('1970-01-01T00:00:00.000Z,0,'.length)).toBe(`${csvCell(text)},${','.repeat(TEXT_FIELDS.length)}{}\r\n`);
  }
});

describe('groups as a file', () => {
  test('are CSV that a parser reads back, with the dimensions in their order', () => {
    const file = groupsFile(TEXTS.map(group), ['url', 'country'], 'csv');
    const [header, ...records] = parse(file) as string[][];
    expect(header?.join()).toBe(
      'url,country,count,firstSeen,lastSeen,blocked,challenged,logged,topCountry,topAsn,features,ruleIds,sparkline',
    );
    expect(records.map(([url]) => url)).toEqual(
      TEXTS.map((text) => (/^'*(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u.test(text) ? `'${text}` : text)),
    );
    expect(records[0]?.slice(1)).toEqual([
      'DE',
      '4',
      '1970-01-01T00:00:00.000Z',
      '2023-11-14T22:13:20.001Z',
      '3',
      '0',
      '1',
      'NL',
      '64510',
      'bot,waf',
      '',
      '1 0 3',
    ]);
  });

  test('are NDJSON as they were answered', () => {
    const lines = groupsFile(TEXTS.map(group), ['url', 'country'], 'ndjson').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(TEXTS.map(group));
  });
});

describe('facets as a file', () => {
  const facets: Parameters<typeof facetsFile>[0] = [
    { field: 'ua', values: TEXTS.map((value) => ({ value, count: 2, selected: null, spellings: 1 })) },
    { field: 'ip', values: [{ value: '::1', count: 3, selected: 1, spellings: 1 }] },
  ];

  test('are one value a line', () => {
    const records = parse(facetsFile(facets, 'csv')) as string[][];
    expect(records).toHaveLength(1 + TEXTS.length + 1);
    expect(records[0]).toEqual(['field', 'value', 'count', 'selected']);
    expect(records.at(-1)).toEqual(['ip', '::1', '3', '1']);
    expect(records[1]?.slice(2)).toEqual(['2', '']);
    const lines = facetsFile(facets, 'ndjson').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).value)).toEqual([...TEXTS, '::1']);
  });
});

test('the name of a file says what it holds, and no file system refuses it', () => {
  const name = fileName('groups', { zones: '1,7', body: { from: 1_700_000_000_000, to: 1_700_003_600_000 } }, 'csv');
  expect(name).toBe('shieldlog-groups-zone-1,7-20231114T221320Z-20231114T231320Z.csv');
});
