import { expect, test } from 'vitest';
import { MAX_UPSTREAM_ANSWERS_BYTES, MAX_UPSTREAM_BODIES_BYTES } from '../../edge/proxy/proxy.ts';
import { loadConfig } from '../../src/config/config.ts';
import { EXPORTS_AT_ONCE } from '../../src/export/export-slots.ts';
import { MEBIBYTE, MEMORY_BESIDE_MB, memoryShares } from '../../store/memory-shares.ts';
import { HELD_BYTES } from '../bounded/held-bytes.ts';
import { type Amount, bytes, count, describeLimits, LIMITS_DOCUMENT, type LimitTest, surfacesOf } from './limit-table.ts';

const { memoryLimitMb, maxConnections } = loadConfig({});
const { answersShareMb, feedPagesShareMb } = memoryShares(memoryLimitMb);
const HEADER_BYTES = 16 * 1024;

const opened = (is: Amount): LimitTest => ({
  is,
  elsewhere: '%s leave the program within its memory, however many there are',
});

const TESTS: Readonly<Record<keyof typeof HELD_BYTES, LimitTest>> = {
  'answers of searches and of the explorer that are not read': opened(bytes(answersShareMb * MEBIBYTE)),
  'lists of dead letters that are not read': opened(bytes(answersShareMb * MEBIBYTE)),
  'pages of the feed that are not read': opened(bytes(feedPagesShareMb * MEBIBYTE)),
  'exports that are not read': opened(count(EXPORTS_AT_ONCE)),
  'tails that are not read': opened(bytes(MEMORY_BESIDE_MB.tails * 1024 * 1024)),
  'backups that are not read': opened(count(1)),
  'checks that are not read': opened(count(1)),
  'files of the pages that are not read': opened(count(1)),
  'descriptions of the interface that are not read': opened(count(1)),
  'headers of requests that have not come whole': opened(bytes(maxConnections * HEADER_BYTES)),
};

describeLimits('Bytes of callers', import.meta.filename, {
  ...TESTS,
  'bodies for upstreams and the local control plane whose answers are not taken, each behind its first 16 KiB': {
    is: bytes(MAX_UPSTREAM_BODIES_BYTES),
    elsewhere: 'bodies that wait for an upstream have so much memory together, and their callers give it back when they go',
  },
  'answers of upstreams and of the local control plane that are not read': {
    is: bytes(MAX_UPSTREAM_ANSWERS_BYTES),
    elsewhere: 'answers have so much memory together; beyond it a caller is told to come again, and is served once there is room',
  },
});

test('a row whose test is that of many callers has callers of its own, and they have a row', () => {
  const rows = surfacesOf(LIMITS_DOCUMENT).get('Bytes of callers') ?? [];
  const tried = rows.filter((row) => row.test === '`bounded/held-bytes.slow.test.ts`').map(({ limit }) => limit);
  expect(tried.toSorted()).toEqual(Object.keys(HELD_BYTES).toSorted());
});
