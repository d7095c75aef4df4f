import type { BoundedCase } from './bounded-case.ts';

const USUAL = { zones: 1, hours: 1, state: 'unflushed', fault: 'none', keys: 1, clients: 1 } as const;

/** Cases that have been found, and the corners, each small enough for some seconds. */
export const FIXED_CASES = {
  'rows of long values': { ...USUAL, values: 'long', events: 280, bytes: 960_000, requests: ['rows'] },
  'export of long values': { ...USUAL, values: 'long', events: 80, bytes: 960_000, requests: ['export CSV', 'export NDJSON'] },
  'group context': { ...USUAL, values: 'many everywhere', events: 300_000, bytes: 300, requests: ['groups', 'groups'] },
  'adversarial needles': {
    ...{ ...USUAL, values: 'near misses', events: 3, bytes: 1_020_000, requests: ['contains'] },
    ...{ deadlineMs: 2_000, clients: 4, beside: 'light search' },
  },
  'dense logs': { ...USUAL, values: 'dense log', events: 60, bytes: 950_000, requests: ['rows', 'export CSV'] },
  'facets of long values': { ...USUAL, values: 'long', events: 3_000, bytes: 60_000, requests: ['explore', 'difference', 'difference'] },
  'CSV of escapes': { ...USUAL, values: 'escapes', events: 60, bytes: 900_000, requests: ['export CSV'] },
  'dense logs that are flushed': {
    ...{ ...USUAL, values: 'dense log', events: 15, bytes: 950_000, state: 'flushed' },
    requests: ['rows', 'export NDJSON'],
  },
  'long values that are merged': {
    ...{ ...USUAL, values: 'long', events: 120, bytes: 960_000, state: 'merged' },
    requests: ['rows', 'page of explore', 'groups of long keys'],
  },
  'a NUL in wildcards': { ...USUAL, values: 'NUL', events: 20, bytes: 660, requests: ['wildcard'], deadlineMs: 2_000 },
  'many stars in long values': {
    ...{ ...USUAL, values: 'near misses', events: 10, bytes: 1_000_000, requests: ['wildcard', 'query'] },
    ...{ deadlineMs: 2_000, clients: 2, keys: 2 },
  },
  'letters outside Latin': {
    ...{ ...USUAL, values: 'outside Latin', events: 40, bytes: 1_000_000 },
    requests: ['rows', 'query', 'wildcard', 'export NDJSON'],
  },
  'many values in every field': {
    ...{ ...USUAL, values: 'many everywhere', events: 100_000, bytes: 300, hours: 48, state: 'flushed', keys: 2 },
    requests: ['explore', 'difference', 'groups of long keys', 'many values', 'rules'],
  },
  'many zones': {
    ...{ ...USUAL, values: 'usual', events: 40_000, bytes: 300, zones: 2_000, hours: 24, state: 'flushed', keys: 4 },
    requests: ['zones', 'explore', 'page of explore'],
  },
  'the feed of dense logs': {
    ...{ ...USUAL, values: 'dense log', events: 15, bytes: 950_000, state: 'flushed' },
    requests: ['feed native', 'feed ecs', 'feed ocsf', 'feed cef'],
  },
  'the feed of many events': {
    ...{ ...USUAL, values: 'usual', events: 30_000, bytes: 300, zones: 20, hours: 24, keys: 4 },
    requests: ['feed native', 'feed ecs', 'feed ocsf', 'feed cef'],
  },
  'exports of usual events': {
    ...{ ...USUAL, values: 'long log', events: 20_000, bytes: 2_000, zones: 20, hours: 48, state: 'merged', keys: 2 },
    requests: ['export CSV', 'export NDJSON'],
  },
  'tails of near misses': { ...USUAL, values: 'near misses', events: 1, bytes: 200_000, requests: ['tail'], keys: 6 },
  'tails of dense logs': { ...USUAL, values: 'dense log', events: 1, bytes: 950_000, requests: ['tail'], keys: 4 },
  'intake by many': { ...USUAL, values: 'dense log', events: 1, bytes: 950_000, requests: ['intake'], keys: 16 },
  'intake of many values': {
    ...USUAL,
    values: 'many everywhere',
    events: 1,
    bytes: 300,
    requests: ['intake', 'intake'],
    keys: 16,
    clients: 2,
  },
  'callers that hang up': {
    ...{ ...USUAL, values: 'near misses', events: 8, bytes: 200_000, requests: ['contains'], fault: 'hang-up', deadlineMs: 3_000 },
    ...{ keys: 8, clients: 2 },
  },
  'readers that do not read': {
    ...{ ...USUAL, values: 'long log', events: 40, bytes: 900_000, state: 'flushed', fault: 'unread', keys: 4, clients: 2 },
    requests: ['rows', 'export CSV', 'feed native'],
  },
  // What random cases fell for, as small as they still fall.
  'blocks of long values': { ...USUAL, values: 'long', events: 2_500, bytes: 20_000, state: 'flushed', requests: ['contains'], keys: 4 },
  'blocks of letters outside Latin': {
    ...{ ...USUAL, values: 'outside Latin', events: 2_500, bytes: 20_000, state: 'flushed', requests: ['contains'] },
    ...{ deadlineMs: 2_000, keys: 4 },
  },
  'needles of 1,000 bytes': {
    ...{ ...USUAL, values: 'short near misses', events: 1_000, bytes: 60_000, requests: ['contains', 'query'], keys: 4, deadlineMs: 2_000 },
  },
  'logs of many members': { ...USUAL, values: 'many members', events: 500, bytes: 20_000, requests: ['export CSV'] },
  'groups of long keys': { ...USUAL, values: 'long', events: 250, bytes: 200_000, state: 'flushed', requests: ['groups of long keys'] },
  'rows by many': { ...USUAL, values: 'long', events: 5_000, bytes: 20_000, state: 'flushed', requests: ['rows'], keys: 16 },
  'explorers by many': { ...USUAL, values: 'long', events: 5_000, bytes: 20_000, state: 'flushed', requests: ['explore'], keys: 4 },
  'CSV of long logs': { ...USUAL, values: 'long log', events: 125, bytes: 200_000, requests: ['export CSV'] },
  'the feed of long logs': { ...USUAL, values: 'long log', events: 300, bytes: 66_000, state: 'flushed', requests: ['feed ecs'] },
  'the feed by many': { ...USUAL, values: 'usual', events: 40_000, bytes: 300, state: 'flushed', requests: ['feed native'], keys: 16 },
  'the feed of dense logs by many': {
    ...{ ...USUAL, values: 'dense log', events: 20, bytes: 200_000, state: 'flushed', requests: ['feed ecs'], keys: 8 },
  },
  'many clients of one key': {
    ...{ ...USUAL, values: 'usual', events: 100_000, bytes: 300, hours: 24, requests: ['query'] },
    ...{ clients: 120, beside: 'light search' },
  },
} as const satisfies Readonly<Record<string, BoundedCase>>;

/** Those that show on ClickHouse what its answers are read with, in as little time as that takes. */
export const CASES_ON_CLICKHOUSE = {
  'rows of long values': FIXED_CASES['rows of long values'],
  'group context': FIXED_CASES['group context'],
  'facets of long values': FIXED_CASES['facets of long values'],
  'readers that do not read': FIXED_CASES['readers that do not read'],
  'contexts of long values': { ...USUAL, values: 'long rules', events: 1_750, bytes: 60_000, requests: ['groups'], keys: 6 },
} as const satisfies Readonly<Record<string, BoundedCase>>;
