import fc from 'fast-check';
import { DIMENSIONS } from '../../../query/event-fields.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

const list = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

/** Searches that ask for as much as one may, and a little more. */
export function largeSearches(nowMs: number): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const bounds = { from: nowMs - 70 * HOUR_MS, to: nowMs };
  const clause = (op: string, field: string, value: readonly string[]): object => ({ filters: [{ field, op, value }] });
  const conditions = fc.oneof(
    fc.integer({ min: 200, max: 260 }).map((stars) => clause('wildcard', 'url', [`${'*a'.repeat(stars)}*`])),
    fc.integer({ min: 20, max: 33 }).map((count) =>
      clause(
        'wildcard',
        'ua',
        list(count, (index) => `${'*a'.repeat(250)}*${index}`),
      ),
    ),
    fc.tuple(fc.constantFrom(15, 16, 17), fc.constantFrom(1_023, 1_024, 1_025)).map(([count, length]) =>
      clause(
        'contains',
        'url',
        list(count, (index) => String.fromCharCode(97 + index).padStart(length, 'a')),
      ),
    ),
    fc.constantFrom(127, 128, 129).map((count) =>
      clause(
        'contains',
        'url',
        list(count, (index) => `/path/${index}`),
      ),
    ),
    fc.constantFrom(500, 1_000, 1_001).map((count) =>
      clause(
        'in',
        'ruleId',
        list(count, (index) => `rule-${index}`),
      ),
    ),
    fc.constantFrom(1_000).map((count) =>
      clause(
        'cidr',
        'ip',
        list(count, (index) => `10.${index >> 8}.${index & 255}.0/24`),
      ),
    ),
    fc.constantFrom(99, 100, 101).map((count) => ({ filters: list(count, () => ({ field: 'ip', op: 'eq', value: ['10.0.0.1'] })) })),
    fc.constantFrom(63, 64, 65).map((count) => ({ query: list(count, (index) => `word${index}`).join(' ') })),
    fc.constantFrom(65_536, 65_537, 500_000).map((length) => ({ query: 'q'.repeat(length) })),
    fc.constantFrom(65_536, 400_000).map((length) => clause('contains', 'url', ['\\'.repeat(length)])),
    fc.constant({ [' '.repeat(900_000)]: 1 }),
    fc.constant({}),
  );
  const output = fc.constantFrom(
    {},
    { pageSize: 500 },
    { pageSize: 500, page: 4_000_000 },
    { groupBy: DIMENSIONS, buckets: 500, pageSize: 500 },
    { groupBy: ['url'], buckets: 500, pageSize: 500 },
  );
  return fc.tuple(conditions, output).map(([asked, shape]) => ({ ...bounds, ...asked, ...shape }));
}

/** Uploads whose events are many, long or deep. */
export function largeEvents(nowMs: number): fc.Arbitrary<Buffer> {
  const event = (rest: string): string => `{"shieldZoneId":1,"timestamp":${nowMs - 1000}${rest}}`;
  const sized = (bytes: number): string => event(`,"url":"${'u'.repeat(bytes - event(',"url":""').length)}"`);
  return fc
    .oneof(
      fc.constantFrom(MIB - 1, MIB, MIB + 1).map(sized),
      fc.constantFrom(1_000, 400_000).map((depth) => event(`,"log":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)),
      fc.constant(event(`,"log":{${list(60_000, (index) => `"k${index}":0`).join(',')}}`)),
      fc.constant(event(',"ua":"a"'.repeat(90_000))),
      fc.constantFrom(5_000, 20_000).map((count) => list(count, (index) => event(`,"logId":"many-${index}"`)).join('\n')),
      fc.constant(list(20_000, () => '{}').join('\n')),
      fc.constant(`[${list(5_000, () => '0').join(',')}]`),
      fc.constant('\n'.repeat(2 * MIB)),
      fc.constant(event(`,"asn":${'9'.repeat(500_000)}`)),
    )
    .map((lines) => Buffer.from(lines));
}

const execute = (sql: string, args: readonly object[] = []): object => ({ type: 'execute', stmt: { sql, args } });

/** Pipelines with many requests, steps, arguments and conditions, or long texts. */
export const largePipelines: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .oneof(
    fc.constantFrom(999, 1_000, 1_001).map((count) => list(count, () => execute('SELECT 1'))),
    fc
      .constantFrom(2_000, 10_001)
      .map((count) => [{ type: 'batch', batch: { steps: list(count, () => ({ stmt: { sql: 'SELECT 1' } })) } }]),
    fc.constantFrom(10_000, 32_767).map((count) => [
      execute(
        'SELECT 1',
        list(count, () => ({ type: 'null' })),
      ),
    ]),
    fc.constantFrom(100_000, MIB).map((length) => [execute('SELECT ?', [{ type: 'text', value: 't'.repeat(length) }])]),
    fc.constantFrom(100_000, MIB).map((length) => [execute(`SELECT '${'s'.repeat(length)}'`)]),
    fc.constantFrom(500, 20_000).map((count) => [{ type: 'sequence', sql: 'SELECT 1;'.repeat(count) }]),
    fc.constantFrom(900, 20_000).map((depth) => [execute(`SELECT ${'('.repeat(depth)}1${')'.repeat(depth)}`)]),
    fc.constantFrom(63, 64, 1_000).map((depth) => {
      const condition = list(depth, () => 0).reduce<object>((cond) => ({ type: 'not', cond }), { type: 'is_autocommit' });
      return [{ type: 'batch', batch: { steps: [{ stmt: { sql: 'SELECT 1' }, condition }] } }];
    }),
    fc.constant(list(65, (sql_id) => ({ type: 'store_sql', sql_id, sql: `SELECT ${' '.repeat(1_000)}1` }))),
  )
  .map((requests) => ({ requests: [...requests, { type: 'close' }] }));

/** Zones with as many records as one may have. */
export const largeRecords: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .tuple(fc.nat(), fc.constantFrom(1_000, 5_000, 5_001), fc.constantFrom('10.0.0.1', 'x'.repeat(200)))
  .map(([id, count, value]) => ({
    Domain: `zone-${id}.example.com`,
    Records: list(count, (index) => ({ Type: value.startsWith('10') ? 0 : 3, Name: `n${index}`, Value: value, Ttl: 300 })),
  }));

const yaml = (paths: string, schemas = ''): string =>
  `openapi: 3.0.3\ninfo: {title: Large, version: '1'}\npaths:\n${paths}components:\n  schemas:\n    Any: {type: object}\n${schemas}`;

/** Specifications that are long, deep, or that say much with few words. */
export const largeSpecifications: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .oneof(
    fc
      .constantFrom(49, 51, 3_000)
      .map((count) => yaml(list(count, (index) => `  /p${index}: {get: {responses: {'200': {description: ok}}}}\n`).join(''))),
    fc.constantFrom(15, 500, 20_000).map((depth) => yaml('', `    Deep: ${'{properties: {a: '.repeat(depth)}{}${'}}'.repeat(depth)}\n`)),
    fc.constant(`a0: &a0 [x]\n${list(40, (index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]\n`).join('')}`),
    fc.constantFrom(100_000, 1_900_000).map((length) => yaml('', `    Text: {description: '${'d'.repeat(length)}'}\n`)),
    fc.constant(`openapi: 3.0.3\n${'- '.repeat(100_000)}`),
    fc.constant(JSON.stringify({ openapi: '3.0.3', info: { title: 'x', version: '1' }, paths: { '/a': { $ref: '#/paths/~1a' } } })),
    fc.constant('['.repeat(500_000)),
  )
  .map((content) => ({ content }));
