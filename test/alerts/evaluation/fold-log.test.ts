import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { FOLD_LOG_SCHEMA, FoldLog } from '../../../alerts/evaluation/fold-log.ts';
import { PreparedSql } from '../../../alerts/evaluation/prepared-sql.ts';
import { RuleFold } from '../../../alerts/rule-fold.ts';
import { inKeyOrder, stateOf } from '../kept-fold.ts';
import { BEGIN, eventAt, RETENTION_MS, ruleWith } from '../made-rules.ts';

const RULE = 7;
const ADDRESSES = 500;

test.each([
  ['a count', ruleWith({ kind: { kind: 'count', atLeast: 1_000 }, by: ['ip'] }), 4],
  ['new values', ruleWith({ kind: { kind: 'new_value', field: 'ip', forMs: RETENTION_MS }, by: ['ip'] }), 4],
  ['different values', ruleWith({ kind: { kind: 'distinct', field: 'ip', atLeast: 100_000 }, by: ['country'] }), 60],
])('the log of %s is begun anew with all that the rule knows when it has become long', (_, rule, pages) => {
  using database = new DatabaseSync(':memory:');
  database.exec(FOLD_LOG_SCHEMA);
  const log = new FoldLog(new PreparedSql(database));
  const [fold, inOnePage] = [rule, rule].map((one) => new RuleFold(one, { retentionMs: RETENTION_MS, begunAtMs: BEGIN })) as [
    RuleFold,
    RuleFold,
  ];
  const kept: Record<string, unknown>[] = [];
  for (let page = 0; page < 60; page += 1) {
    for (let nth = 0; nth < ADDRESSES; nth += 1) {
      const event = eventAt(page * 1_000, { ip: `10.0.${page % pages}.${nth}`, country: `C${page % 3}` });
      fold.count(event);
      inOnePage.count(event);
    }
    const changes = fold.takeChanges({ isWhole: log.isLong(RULE) });
    if (changes !== null) log.write(RULE, changes);
    kept.push({ ...database.prepare('SELECT count(*) AS changes, sum(length(changes)) AS length FROM fold_log').get() });
  }
  const expected = stateOf(inOnePage);
  const known = log.read(RULE);
  expect(known && { ...known, rows: inKeyOrder(known.rows) }).toEqual({
    facts: expected.facts,
    closed: expected.closed,
    rows: expected.rows,
  });
  const wholes = kept.filter(({ changes }) => changes === 1).map(({ length }) => Number(length));
  expect(wholes.length).toBeGreaterThan(2);
  expect(Math.max(...kept.map(({ length }) => Number(length)))).toBeLessThan(4 * Math.max(...wholes) + 128 * 1_024);
});
