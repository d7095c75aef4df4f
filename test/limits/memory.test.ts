import { expect, test } from 'vitest';
import { ALERT_HEAP_MB } from '../../alerts/evaluation/alert-keeper.ts';
import { MAX_BATCH_BYTES } from '../../ingest/event/batch-builder.ts';
import { MAX_KEPT_BYTES, MAX_SHARED_BYTES } from '../../ingest/event/chunk-pool.ts';
import { MAX_PENDING_BYTES } from '../../ingest/event/pending-appends.ts';
import { LARGEST_RECORD_MB, MAX_MAPPING_THREADS } from '../../ingest/upload/mapping-threads.ts';
import { loadConfig } from '../../src/config/config.ts';
import { BODY_MEMORY_BYTES, FREE_BODY_BYTES } from '../../src/http/body-memory.ts';
import { TAIL_LIMITS } from '../../src/tail/tail-limits.ts';
import { ResultMemory } from '../../store/clickhouse/server/result-memory.ts';
import { MAX_IMMUTABLE_MEMTABLES } from '../../store/embedded/flush/flusher.ts';
import { CLOSE_AT_LOG_BYTES } from '../../store/embedded/memtable/memtable-loader.ts';
import { MAX_EXPLORATION_BYTES } from '../../store/embedded/search/exploration-cache.ts';
import { MAX_COUNTS_BYTES } from '../../store/embedded/search/segment-counts.ts';
import {
  clickhouseExcerptsShareMb,
  clickhouseResultBytesShareMb,
  clickhouseResultsShareMb,
  feedExcerptsShareMb,
  MEBIBYTE,
  MEMORY_BESIDE_MB,
  memoryShares,
  residentClickhouseMb,
  residentMemoryMb,
} from '../../store/memory-shares.ts';
import { bytes, count, describeLimits } from './limit-table.ts';

const { memoryLimitMb, maxConnections } = loadConfig({});
const shares = memoryShares(memoryLimitMb);
const MAPPING_MB = MAX_MAPPING_THREADS * LARGEST_RECORD_MB + MAX_SHARED_BYTES / MEBIBYTE;
const mebibytes = (amount: number) => bytes(amount * MEBIBYTE);

describeLimits('Memory', import.meta.filename, {
  'DuckDB, which searches and feeds read with: unflushed events and cached groups are in it': {
    is: mebibytes(shares.searchesShareMb),
    elsewhere: 'a search that runs out of memory is refused, and the next one is answered',
  },
  'DuckDB of merges': {
    is: mebibytes(shares.mergesShareMb),
    elsewhere: 'what the thread has too little memory for is written where there is more',
  },
  'what tells duplicates of recent events apart': {
    is: mebibytes(shares.dedupIndexShareMb),
    elsewhere: 'minutes that events keep coming from stay, however many events are in them, up to a limit',
  },
  'excerpts of the feed, and one that is being made': {
    is: mebibytes(feedExcerptsShareMb(shares)),
    elsewhere: 'one excerpt is made at a time, also behind one that fails',
  },
  'pages of the feed that wait for their readers': {
    is: mebibytes(shares.feedPagesShareMb),
    elsewhere: 'two hundred feeds that nobody reads take little memory, and keep nobody from reading another',
  },
  'answers that are read and not written': {
    is: mebibytes(shares.answersShareMb),
    elsewhere: 'the first part of an answer > that does not fit is refused, a smaller one is given, and room comes back',
  },
  'logs of events that are not flushed': {
    is: mebibytes(MEMORY_BESIDE_MB.unflushedLogs),
    elsewhere: 'events whose logs take much memory are flushed before there are many of them',
  },
  'events that are received and not searchable yet, and memory for the next ones': {
    is: mebibytes(MEMORY_BESIDE_MB.pending),
    elsewhere: 'many inputs at the same time hand over no more than the limit together',
  },
  'pages of rows, counts of segments and counts of the explorer that are remembered': {
    is: mebibytes(MEMORY_BESIDE_MB.caches),
    elsewhere: 'pages of the searches that were made last are kept, within the budget',
  },
  'bodies, events, rejections and decoders whose end has not come, and bodies of [doors](doors.md) until they are answered': {
    is: mebibytes(MEMORY_BESIDE_MB.bodies),
    elsewhere: 'where there is no room > the newest body of the caller that holds most is ended',
  },
  'the first 16 KiB of each of these, for each connection': {
    is: mebibytes(MEMORY_BESIDE_MB.bodyStarts),
    elsewhere: 'the first 16 KiB of a body are free, and what is given back can be held again',
  },
  'events that wait for clients of tails': {
    is: mebibytes(MEMORY_BESIDE_MB.tails),
    elsewhere: 'a client that does not read > loses events, is told how many when it reads again, and keeps nobody waiting',
  },
  'records of other products that are being mapped, and envelopes of [doors](doors.md) that are being taken apart': {
    is: mebibytes(MAPPING_MB),
    elsewhere: 'the worst records are mapped within half of the heap of a thread > of %s',
  },
  'what [rules of alerts](alerts.md) count, and the events that are being counted': {
    is: mebibytes(ALERT_HEAP_MB),
    elsewhere: 'rules that keep as much as they may, in every kind, stay within the heap of the thread',
  },
  'the program itself, its other threads, and what reads under way hold': {
    is: mebibytes(MEMORY_BESIDE_MB.program),
    elsewhere: '%s',
  },
  'all of it': { is: mebibytes(residentMemoryMb(memoryLimitMb)), elsewhere: '%s' },
});

describeLimits('Memory on ClickHouse', import.meta.filename, {
  'results that answers are made of': {
    is: mebibytes(clickhouseResultsShareMb(memoryLimitMb)),
    elsewhere: 'a result is refused, and the next one read: %s',
  },
  'rows of one result': {
    is: count(Number(new ResultMemory(clickhouseResultBytesShareMb(memoryLimitMb) * MEBIBYTE).settings['max_result_rows'])),
    elsewhere: 'a result is refused, and the next one read: %s',
  },
  'excerpts of the feed, and one that is being made': {
    is: mebibytes(clickhouseExcerptsShareMb(memoryLimitMb)),
    elsewhere: 'one excerpt is made at a time, also behind one that fails',
  },
  'all of it': { is: mebibytes(residentClickhouseMb(memoryLimitMb)), elsewhere: '%s' },
});

test('what the program takes beside the setting is what its parts allow', () => {
  expect(MEMORY_BESIDE_MB).toMatchObject({
    unflushedLogs: ((MAX_IMMUTABLE_MEMTABLES + 1) * CLOSE_AT_LOG_BYTES + MAX_BATCH_BYTES) / MEBIBYTE,
    pending: (MAX_PENDING_BYTES + MAX_KEPT_BYTES) / MEBIBYTE,
    caches: (MAX_EXPLORATION_BYTES + MAX_COUNTS_BYTES) / MEBIBYTE,
    bodies: BODY_MEMORY_BYTES / MEBIBYTE,
    bodyStarts: (maxConnections * FREE_BODY_BYTES) / MEBIBYTE,
    mapping: MAPPING_MB,
    alerts: ALERT_HEAP_MB,
    tails: (TAIL_LIMITS.maxWatchers * TAIL_LIMITS.maxBufferedBytes) / MEBIBYTE,
  });
});

test.each([1_024, 2_048, 1_048_576])('with MEMORY_LIMIT_MB=%s all shares are at most the setting', (limitMb) => {
  const beside = Object.values(MEMORY_BESIDE_MB).reduce((sum, mb) => sum + mb, 0);
  expect(residentMemoryMb(limitMb)).toBeLessThanOrEqual(limitMb + beside);
  expect(residentClickhouseMb(limitMb)).toBeLessThan(residentMemoryMb(limitMb));
  expect(memoryShares(limitMb)).toMatchObject({ searchesShareMb: limitMb / 2 });
});

test('with a small setting DuckDB has what it needs to sort, and with a large one the feed no more than is of use', () => {
  expect(memoryShares(256)).toMatchObject({ searchesShareMb: 256, mergesShareMb: 128, answersShareMb: 16 });
  expect(clickhouseResultsShareMb(256)).toBe(clickhouseResultsShareMb(1_024));
  expect(memoryShares(1_048_576)).toMatchObject({ cachedGroupsShareMb: 64, feedExcerptShareMb: 108, feedPagesShareMb: 96 });
});
