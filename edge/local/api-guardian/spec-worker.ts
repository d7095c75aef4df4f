import { parentPort, workerData } from 'node:worker_threads';
import { readSpec } from './read-spec.ts';
import type { SpecOutcome } from './spec-thread.ts';
import { SpecFault } from './spec-tree.ts';

/** Reads the specification that the thread was started with. */
async function outcomeOf(text: string): Promise<SpecOutcome> {
  try {
    return { kind: 'accepted', spec: await readSpec(text) };
  } catch (error) {
    if (error instanceof SpecFault) return { kind: 'refused', errors: error.errors };
    throw error;
  }
}

parentPort?.postMessage(await outcomeOf(String(workerData)));
