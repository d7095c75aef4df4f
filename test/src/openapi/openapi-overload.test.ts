import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoreError } from '../../../store/event-store.ts';
import { DESCRIBED_OPERATIONS, type DescribedOperation } from './document-check.ts';
import { EVENT_DRIVERS } from './event-drivers.ts';
import { type Site, startSite } from './site.ts';
import type { Sites } from './sites.ts';
import { STREAM_DRIVERS } from './stream-drivers.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
});

afterAll(() => site.stop());

/** The document has an example of each problem that an operation can end in, by its key. */
function saysBusy({ responses }: DescribedOperation): boolean {
  return Object.values(responses).some(({ content = {} }) => Object.values(content).some(({ examples = {} }) => 'store.busy' in examples));
}

/** Every reading of the store is refused from here on. An append never is: it waits, or it fails with `append_failed`. */
function overload({ store }: Site): void {
  const refuse = async (): Promise<never> => {
    throw new StoreError('overloaded', 'too many searches are waiting already');
  };
  const readAll = async function* () {
    yield await refuse();
  };
  Object.assign(store, { search: refuse, explore: refuse, activeZones: refuse, readFeed: refuse, readAll });
}

test('what reads events ends in `store.busy` where the store has too much to do, and the document says so of nothing else', async () => {
  overload(site);
  const busy: string[] = [];
  for (const [name, drivers] of Object.entries({ ...EVENT_DRIVERS, ...STREAM_DRIVERS })) {
    const succeed = drivers[200] ?? drivers[202];
    // The drivers of successes ask this site alone.
    const answer = await succeed?.({ open: site } as Sites);
    if (answer?.status === 503 && JSON.parse(answer.text).errorKey === 'store.busy') busy.push(name);
  }
  expect(busy.toSorted()).toEqual(['exploreEventLogs', 'exportEventLogs', 'listActiveZones', 'readFeed', 'searchEventLogs']);
  const described = DESCRIBED_OPERATIONS.filter(saysBusy).map(({ operationId }) => operationId);
  expect(described.toSorted()).toEqual(busy.toSorted());
});
