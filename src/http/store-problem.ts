import { StoreError } from '../../store/store-error.ts';
import { RequestProblem } from './problem.ts';

/** The problem that a store's refusal is to a caller; every other error comes back as it is. */
export function asStoreProblem(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  switch (error.code) {
    case 'overloaded':
      return new RequestProblem('store.busy', error.message, { headers: { 'retry-after': '1' }, cause: error });
    case 'closed':
      return new RequestProblem('program.stopping', error.message, { headers: { 'retry-after': '5' }, cause: error });
    case 'append_failed': {
      const detail = `${error.message}; sending everything again stores nothing twice`;
      return new RequestProblem('store.append_failed', detail, { headers: { 'retry-after': '5' }, cause: error });
    }
    case 'folder_in_use':
    case 'folder_unusable':
    case 'corrupt':
      return error;
  }
}
