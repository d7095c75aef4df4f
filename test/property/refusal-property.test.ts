import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileExplore } from '../../query/request/compile-explore.ts';
import { compileSearch } from '../../query/request/compile-search.ts';
import { InvalidSearchError } from '../../query/request/request-errors.ts';
import { oracleEvents } from '../oracle/raw-event.ts';
import { isValidExplore, isValidRequest } from '../oracle/request-check.ts';
import { assertProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { arbitraryExplore } from './arbitrary-explore.ts';
import { arbitraryRequest } from './arbitrary-request.ts';
import { generateRawEvents, NOW_MS } from './filled-store.ts';

const REQUESTS = propertyRuns(1_000);
const DATA_SEED = 1;

/** Values of every kind, some of which some members allow. */
const JUNK: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  1e300,
  NOW_MS,
  NOW_MS + 60_000,
  NOW_MS + 60_001,
  NOW_MS - 72 * 3_600_000 - 60_000,
  NOW_MS - 72 * 3_600_000 - 60_001,
  '',
  'ip',
  'IP',
  'cidr',
  'contains',
  '10.0.0.0/8',
  '10.0.0.0/33',
  '2001:db8::/129',
  '10.0.0/8',
  '::1/08',
  [],
  [null],
  [''],
  ['ip'],
  ['ip', 'url'],
  ['ip', 'ip'],
  ['10.0.0.0/8', 'nowhere'],
  'x'.repeat(1_024),
  'é'.repeat(513),
  `two ${'é'.repeat(512)}`,
  Array(127).fill('x'),
  Array(128).fill('x'),
  Array(129).fill('x'),
  Array(16).fill('é'.repeat(512)),
  [...Array(15).fill('é'.repeat(512)), 'x'.repeat(1_023), 'yy'],
  [[]],
  [{}],
  {},
  { field: 'ip', op: 'cidr', value: ['::/0'] },
  'shieldZoneId',
  'difference',
  100,
  101,
  500,
  501,
  { buckets: 1 },
  { buckets: 1, by: 'shieldZoneId' },
  [{ field: 'shieldZoneId' }],
  [{ field: 'asn' }, { field: 'asn', limit: 2 }],
  [{ field: 'asn', order: 'difference' }],
  { from: NOW_MS },
  { from: NOW_MS, to: NOW_MS },
];

type Json = Readonly<Record<string, unknown>> | readonly unknown[];

/** Returns every path in a JSON document, as a list of keys. */
function pathsIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) {
    return [at];
  }
  return [at, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...at, key]))];
}

function withReplaced(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) {
    return replacement;
  }
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as Json) };
  Object.assign(copy, { [key]: withReplaced((value as Record<string, unknown>)[key], rest, replacement) });
  return copy;
}

/** A valid body, or one with a value replaced, a property left out, or one too many. */
function nearlyValid(valid: fc.Arbitrary<object>): fc.Arbitrary<unknown> {
  return valid.chain((body) => {
    const paths = fc.constantFrom(...pathsIn(body));
    const replaced = fc.tuple(paths, fc.constantFrom(...JUNK)).map(([path, junk]) => withReplaced(body, path, junk));
    const leftOut = paths.map((path) => withReplaced(body, path, undefined)).map((changed) => changed ?? null);
    const added = fc
      .tuple(paths, fc.constantFrom('From', 'limit', ''))
      .map(([path, name]) => withReplaced(body, [...path.slice(0, -1), name], 1));
    const changed = fc.oneof({ arbitrary: replaced, weight: 5 }, { arbitrary: leftOut, weight: 1 }, { arbitrary: added, weight: 1 });
    return fc.oneof({ arbitrary: changed, weight: 6 }, { arbitrary: fc.constant(body), weight: 1 });
  });
}

/** A kind of request: valid ones, what compiles it, and what the oracle says of it. */
interface RequestKind {
  readonly name: string;
  readonly valid: fc.Arbitrary<object>;
  readonly compile: (body: Uint8Array) => unknown;
  readonly isValid: (body: unknown, nowMs: number) => boolean;
}

const EVENTS = oracleEvents(generateRawEvents(DATA_SEED, 60));

const REQUEST_KINDS: readonly RequestKind[] = [
  {
    name: 'searches',
    valid: arbitraryRequest(EVENTS, NOW_MS).map(({ body }) => body),
    compile: (body) => compileSearch(body, { zoneId: 1, nowMs: NOW_MS }),
    isValid: isValidRequest,
  },
  {
    name: 'questions of the explorer',
    valid: arbitraryExplore(EVENTS, NOW_MS, fc.constant([1])).map(({ body }) => body),
    compile: (body) => compileExplore(body, { zones: [1], nowMs: NOW_MS }),
    isValid: isValidExplore,
  },
];

function isTaken(compile: RequestKind['compile'], body: string): boolean {
  try {
    compile(Buffer.from(body));
    return true;
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) {
      throw error;
    }
    expect(error.errors.length).toBeGreaterThan(0);
    return false;
  }
}

test.each(REQUEST_KINDS)(`$name: ${REQUESTS} requests that are valid or nearly so are taken exactly when the oracle takes them`, (kind) => {
  const property = fc.property(nearlyValid(kind.valid), (body) => {
    const text = JSON.stringify(body);
    expect(isTaken(kind.compile, text)).toBe(kind.isValid(JSON.parse(text), NOW_MS));
  });
  assertProperty(property, { numRuns: REQUESTS });
});
