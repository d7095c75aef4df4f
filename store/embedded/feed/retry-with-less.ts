import { StoreError } from '../../store-error.ts';
import { isOutOfMemory } from '../duckdb/statement-runner.ts';

/**
 * Runs `work`. Where DuckDB's memory is not enough for it, calls `evictCaches` and runs it once more. Where that is not enough
 * either, rejects with `StoreError` (`overloaded`) and this message.
 */
export async function retryWithLess<T>(work: () => Promise<T>, evictCaches: () => Promise<void>, message: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOutOfMemory(error)) {
      throw error;
    }
  }
  await evictCaches();
  try {
    return await work();
  } catch (error) {
    throw isOutOfMemory(error) ? new StoreError('overloaded', message, { cause: error }) : error;
  }
}
