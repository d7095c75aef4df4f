import { workerData } from 'piscina';
import { startEngine, statementsOnThisThread } from './duckdb-engine.ts';
import type { FieldsThreadOptions } from './fields-writer.ts';
import { type FieldsOrder, type SealedFields, writeSealedFields } from './sealed-fields.ts';
import { yieldToOtherThreads } from './thread-priority.ts';

// What the thread of `fields-writer.ts` does. Searches come first: whoever asks is waiting.
yieldToOtherThreads();

const engine = await startEngine({ ...(workerData as FieldsThreadOptions), threads: 1 });
const runner = statementsOnThisThread(await engine.connect());

export default (order: FieldsOrder): Promise<SealedFields> => writeSealedFields(order, runner);
