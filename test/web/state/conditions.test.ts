import { describe, expect, test } from 'vitest';
import type { Dimension, GroupDimension } from '../../../query/event-fields.ts';
import { parseSearchLine, searchLineOf } from '../../../query/search-line.ts';
import { bothSearches, filterChange, turnedOver, withoutClause, withoutTerm } from '../../../web/state/conditions.ts';
import { DEFAULT_STATE, type ExplorerState } from '../../../web/state/explorer-state.ts';

function searchOf(line: string): ExplorerState['search'] {
  const search = parseSearchLine(line);
  if ('fault' in search) throw new Error(search.fault);
  return search;
}

/** The line of a state's search after a value was filtered in or out. */
function lineAfter(line: string, side: 'filters' | 'exclude', field: GroupDimension, value: string): string | null | undefined {
  const change = filterChange({ ...DEFAULT_STATE, search: searchOf(line) }, side, field, value);
  return change?.search === undefined ? undefined : searchLineOf(change.search);
}

describe('a value that is filtered in or out', () => {
  test.each<[string, 'filters' | 'exclude', Dimension, string, string]>([
    ['', 'filters', 'country', 'NL', 'country:NL'],
    ['login', 'filters', 'ua', 'a b', 'login ua:"a b"'],
    ['country:NL', 'filters', 'country', 'NL', 'country:NL'],
    ['country:NL,DE', 'filters', 'country', 'DE', 'country:DE'],
    ['ip:10.0.0.0/8', 'filters', 'ip', '10.1.2.3', 'ip:10.0.0.0/8 ip:10.1.2.3'],
    ['-country:NL', 'filters', 'country', 'NL', 'country:NL'],
    ['', 'exclude', 'country', 'NL', '-country:NL'],
    ['-country:DE', 'exclude', 'country', 'NL', '-country:DE -country:NL'],
    ['country:NL', 'exclude', 'country', 'NL', '-country:NL'],
    ['', 'filters', 'asn', '', '-asn:*'],
    ['', 'exclude', 'asn', '', 'asn:*'],
    ['', 'filters', 'url', '/a,b*"c\\', 'url:"/a,b*\\"c\\\\"'],
  ])('%j, %s, %s %j: %j', (line, side, field, value, after) => {
    expect(lineAfter(line, side, field, value)).toBe(after);
  });

  test('which is a zone, chooses the zone; no clause leaves one out', () => {
    expect(filterChange(DEFAULT_STATE, 'filters', 'shieldZoneId', '7')).toEqual({ zones: [7] });
    expect(filterChange(DEFAULT_STATE, 'exclude', 'shieldZoneId', '7')).toBeNull();
  });
});

describe('conditions', () => {
  test.each([
    ['a country:NL', 'b country:NL -action:allowed', 'a b country:NL -action:allowed'],
    ['"a b"', 'a', '"a b" a'],
    ['', 'x', 'x'],
  ])('%j and %j together are %j', (one, other, both) => {
    expect(searchLineOf(bothSearches(searchOf(one), searchOf(other)))).toBe(both);
  });

  test('are removed and turned over one by one', () => {
    const search = searchOf('a b country:NL asn:1 -action:allowed');
    expect(searchLineOf(withoutTerm(search, 'a'))).toBe('b country:NL asn:1 -action:allowed');
    expect(searchLineOf(withoutClause(search, 'filters', 0))).toBe('a b asn:1 -action:allowed');
    expect(searchLineOf(turnedOver(search, 'filters', 1))).toBe('a b country:NL -action:allowed -asn:1');
    expect(searchLineOf(turnedOver(search, 'exclude', 0))).toBe('a b country:NL asn:1 action:allowed');
  });
});
