import { workerData } from 'piscina';
import { DeadLetterTable } from './dead-letter-table.ts';
import type { DeadLetterAnswer, DeadLetterOrder, DeadLetterThreadData } from './dead-letters.ts';

// What the thread of `dead-letters.ts` does.

const { file, quotaBytes } = workerData as DeadLetterThreadData;
const table = new DeadLetterTable(file, quotaBytes);

export default function carryOut(order: DeadLetterOrder): DeadLetterAnswer {
  switch (order.kind) {
    case 'count':
      return { count: table.count() };
    case 'add':
      return { added: table.add(order.letters), count: table.count() };
    case 'list':
      return { letters: table.list(order.selection, order.maxBytes) };
    case 'remove':
      return { removed: table.remove(order.selection), count: table.count() };
    case 'remove-older':
      return { removed: table.removeOlder(order.thanMs, order.limit), count: table.count() };
  }
}
