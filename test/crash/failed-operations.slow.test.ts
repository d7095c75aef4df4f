import { afterEach, beforeEach, test, vi } from 'vitest';
import './recorded-calls.ts';
import { FAULTY_STEPS, failEachOperation } from './failed-operations.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A full disk, an I/O error and a read-only file system, between which the program makes no difference where it writes. */
const CODES = ['ENOSPC', 'EIO', 'EROFS'] as const;

test.each(Object.entries(FAULTY_STEPS))('while an operation of %s fails searches answer, and afterwards all goes on', async (_, faulty) => {
  await failEachOperation(faulty, CODES);
});
