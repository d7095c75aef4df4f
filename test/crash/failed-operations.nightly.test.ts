import { afterEach, beforeEach, describe, test, vi } from 'vitest';
import './recorded-calls.ts';
import { FAULTY_STEPS, failEachOperation } from './failed-operations.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(['ENOSPC', 'EIO', 'EROFS'] as const)('with %s', (code) => {
  test.each(Object.entries(FAULTY_STEPS))(
    'while an operation of %s fails searches answer, and afterwards all goes on',
    async (_, faulty) => {
      await failEachOperation(faulty, [code]);
    },
  );
});
