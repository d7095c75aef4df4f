import { inEmptyDataDir } from '../events/data-dir.ts';
import { forkSubject } from './fork-subject.ts';

/** Runs a program under test once, on an empty folder that is gone afterwards. */
export function runSubject<Order extends { readonly dataDir: string }, Report>(
  file: string,
  order: Omit<Order, 'dataDir'>,
): Promise<Report> {
  return inEmptyDataDir('store', (dataDir) => forkSubject<Report>(file, { ...order, dataDir }));
}
