import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenStore } from '../../../store/embedded/open-store.ts';
import { rowsOf } from '../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from './embedded-store-in.ts';
import { wholeFeed } from './feed/whole-feed.ts';
import { event, eventSeries, HOUR, NOW, rowsPlan } from './stored-events.ts';

/** Names that a pattern of another one matches stand beside it, and `name=value` has the names of columns of each type. */
const NAMES = [
  ...['a', 'a1', 'a[1]', 'a*', 'a?', '[', 'a\\[1]', "it's"],
  ...['country=DE', 'shieldZoneId=9', 'seq=1', 'timestamp=5', 'action=', 'a*=?'],
];

/** Three events, two of the past hour and one of the hour before, of whose values every one tells from which folder it is. */
const eventsOf = (name: string) => {
  const fields = { country: 'US', ip: `192.0.2.${NAMES.indexOf(name)}`, action: 'blocked', log: { folder: name } };
  return [...eventSeries(`${name}-`, 2, NOW - 2000, 1000), event(`${name}-before`, NOW - HOUR)].map((each) => ({ ...each, ...fields }));
};

async function storedIn(store: OpenStore) {
  const rows = await rowsOf(await store.search(rowsPlan()));
  const fed = await wholeFeed(store);
  const byId = <Event extends { readonly logId: string }>(events: readonly Event[]) =>
    events.toSorted((left, right) => (left.logId < right.logId ? -1 : 1));
  return {
    rows: byId(rows).map(({ logId, timestamp, fields, logJson }) => [logId, timestamp, fields['country'], fields['ip'], logJson]),
    fed: byId(fed).map(({ logId, timestamp, fields, logJson }) => [logId, timestamp, fields.country, fields.ip, logJson]),
  };
}

function expectedIn(name: string) {
  const events = eventsOf(name).toSorted((left, right) => (left.logId < right.logId ? -1 : 1));
  const all = events.map(({ logId, timestamp, country, ip, log }) => [logId, timestamp, country, ip, JSON.stringify(log)]);
  return { rows: all, fed: all };
}

test('every folder has its own events with their own values, whatever it and its neighbours are called', async () => {
  const parent = temporaryFolder();
  const open = async (name: string) => {
    mkdirSync(join(parent, name), { recursive: true });
    return [name, await embeddedStoreIn(join(parent, name, 'data'), { memoryLimitMb: 256 })] as const;
  };
  const opened: (readonly [string, OpenStore])[] = [];
  for (const name of NAMES) opened.push(await open(name));
  const steps: readonly ((name: string, store: OpenStore) => Promise<unknown>)[] = [
    (name, store) => store.append(canonicalBatch(eventsOf(name))),
    (_name, store) => store.flushNow(),
    // They are stored already.
    (name, store) => store.append(canonicalBatch(eventsOf(name))),
    (_name, store) => store.flushNow(),
    (_name, store) => store.compactNow(),
  ];
  for (const step of steps) {
    for (const [name, store] of opened) await step(name, store);
    for (const [name, store] of opened) expect([name, await storedIn(store)]).toEqual([name, expectedIn(name)]);
  }
  for (const [, store] of opened) await store.close();
  for (const name of NAMES) {
    const [, store] = await open(name);
    expect([name, await storedIn(store)]).toEqual([name, expectedIn(name)]);
    await store.close();
  }
});
