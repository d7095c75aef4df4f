import fc from 'fast-check';
import { anyText, hostileText } from '../value-pools.ts';

const SQL = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'SELECT 1',
      'SELECT ?, ?2, :name',
      'CREATE TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY, what TEXT, bytes BLOB)',
      'INSERT INTO seen (what, bytes) VALUES (?, ?)',
      'INSERT OR REPLACE INTO seen (id, what) VALUES (1, :name) RETURNING *',
      'SELECT * FROM seen LIMIT 20',
      'DELETE FROM seen',
      'BEGIN',
      'COMMIT',
      'ROLLBACK',
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT count(*) FROM n',
      'SELECT hex(zeroblob(1000)), 9223372036854775807, -1.5e308, NULL',
      'SELECT 1; SELECT 2',
      'PRAGMA table_list',
      "ATTACH ':memory:' AS other",
      'SELECT load_extension(1)',
      'EXPLAIN SELECT 1',
      '',
      ';',
      '-- nothing',
      'SELECT "',
    ),
  },
  { weight: 1, arbitrary: hostileText },
  { weight: 1, arbitrary: anyText },
);

const VALUE = fc.oneof(
  fc.constantFrom(
    { type: 'null' },
    { type: 'integer', value: '9223372036854775807' },
    { type: 'integer', value: '9223372036854775808' },
    { type: 'float', value: 1.5 },
    { type: 'blob', base64: 'AAEC/w' },
    { type: 'blob', base64: '=' },
  ),
  fc.oneof(anyText, hostileText).map((value) => ({ type: 'text', value })),
);

const STATEMENT = fc.record(
  {
    sql: SQL,
    sql_id: fc.constantFrom(1, 2, 3),
    args: fc.array(VALUE, { maxLength: 3 }),
    named_args: fc.array(fc.record({ name: fc.constantFrom('name', ':name', '@x', ''), value: VALUE }), { maxLength: 2 }),
    want_rows: fc.boolean(),
  },
  { requiredKeys: ['sql'] },
);

const CONDITION: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small' },
    fc.record({ type: fc.constantFrom('ok', 'error'), step: fc.nat({ max: 4 }) }),
    fc.constant({ type: 'is_autocommit' }),
    fc.record({ type: fc.constant('not'), cond: tie('condition') }),
    fc.record({ type: fc.constantFrom('and', 'or'), conds: fc.array(tie('condition'), { maxLength: 3 }) }),
  ),
})).condition;

const STEP = fc.record({ stmt: STATEMENT, condition: fc.option(CONDITION, { freq: 2 }) }, { requiredKeys: ['stmt'] });

const REQUEST = fc.oneof(
  { weight: 5, arbitrary: STATEMENT.map((stmt) => ({ type: 'execute', stmt })) },
  { weight: 2, arbitrary: fc.array(STEP, { maxLength: 5 }).map((steps) => ({ type: 'batch', batch: { steps } })) },
  { weight: 1, arbitrary: fc.array(SQL, { maxLength: 4 }).map((sqls) => ({ type: 'sequence', sql: sqls.join(';\n') })) },
  { weight: 1, arbitrary: SQL.map((sql) => ({ type: 'describe', sql })) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(1, 2, 3), SQL).map(([sql_id, sql]) => ({ type: 'store_sql', sql_id, sql })) },
  { weight: 1, arbitrary: fc.constantFrom({ type: 'close_sql', sql_id: 1 }, { type: 'get_autocommit' }) },
);

/** Pipelines of statements that run and that do not; nearly all of them close their stream, of which there are not many. */
export const arbitraryPipeline: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .tuple(
    fc.array(REQUEST, { maxLength: 5 }),
    fc.constantFrom(...Array.from({ length: 18 }, () => undefined), null, 'no-baton'),
    fc.integer({ min: 0, max: 30 }),
  )
  .map(([requests, baton, leftOpen]) => ({ baton, requests: leftOpen === 0 ? requests : [...requests, { type: 'close' }] }));
