import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { countStatement, EXPERT_TABLE } from '../../../bench/engines/clickhouse-statements.ts';
import { compileSearch } from '../../../query/request/compile-search.ts';

const NOW_MS = 1_790_000_000_000;

/** The conditions on the address in the statement that ClickHouse is given. */
function addressConditions(value: readonly string[]): string[] {
  const body = { from: NOW_MS - 1000, to: NOW_MS, filters: [{ field: 'ip', op: 'cidr', value }] };
  const plan = compileSearch(Buffer.from(JSON.stringify(body)), { zoneId: 1, nowMs: NOW_MS });
  return countStatement(plan, EXPERT_TABLE).match(/ipNumber (?:=|BETWEEN toIPv6\('[^']*'\) AND) toIPv6\('[^']*'\)/g) ?? [];
}

/** Addresses in the short form, as people write them. */
function ranges(value: readonly string[]): string[] {
  return addressConditions(value).map((condition) =>
    condition.replaceAll(/toIPv6\('([^']*)'\)/g, (_, address: string) => ipaddr.parse(address).toString()),
  );
}

describe('the addresses that ClickHouse is asked for', () => {
  test.each([
    [['::/0'], ['ipNumber BETWEEN :: AND ::fffe:ffff:ffff', 'ipNumber BETWEEN ::1:0:0:0 AND ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']],
    [['::/80'], ['ipNumber BETWEEN :: AND ::fffe:ffff:ffff']],
    [['::ffff:1.2.3.4/95'], ['ipNumber BETWEEN ::fffe:0:0 AND ::fffe:ffff:ffff']],
    [['::ffff:0:0/96'], ['ipNumber BETWEEN ::ffff:0:0 AND ::ffff:ffff:ffff']],
    [['0.0.0.0/0'], ['ipNumber BETWEEN ::ffff:0:0 AND ::ffff:ffff:ffff']],
    [
      ['10.1.2.3', '::1'],
      ['ipNumber = ::ffff:a01:203', 'ipNumber = ::1'],
    ],
  ])('of %j are %j', (value, expected) => {
    expect(ranges(value)).toEqual(expected);
  });
});
