import { readSpec } from './read-spec.ts';
import type { SpecOutcome } from './spec-thread.ts';
import { SpecFault } from './spec-tree.ts';

/** The work of the thread of a `SpecReader`. */
export function startWork(): (text: string) => Promise<SpecOutcome> {
  return async (text) => {
    try {
      return { kind: 'accepted', spec: await readSpec(text) };
    } catch (error) {
      if (error instanceof SpecFault) return { kind: 'refused', errors: error.errors };
      throw error;
    }
  };
}
