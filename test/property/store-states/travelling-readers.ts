import { join } from 'node:path';
import fc from 'fast-check';
import type { FeedFormatName } from '../../../src/formats/feed-formats.ts';
import { readFeedPages, readTail, runConsumer, type SeenEvent } from './event-readers.ts';
import { expectEvents } from './expect-events.ts';
import { type ZoneList, zoneLists } from './reader-draws.ts';
import type { StoreStates } from './store-states.ts';

/** A reader that goes on from state to state with the cursor that it was given last. */
export interface TravellingReader {
  readonly name: string;
  /** Reads on, so that it is through when `statesLeft` is 1, and throws where what it has read so far is not what it should be. */
  advance(states: StoreStates, statesLeft: number): Promise<void>;
}

/** Two feeds, a tail that comes back again and again, and a consumer that is started again and again. */
export function travellingReaders(seed: number): readonly TravellingReader[] {
  const [first = 'all', second = 'all', third = 'all'] = fc.sample(zoneLists, { seed, numRuns: 3 });
  return [travellingFeed(first, 'native', 333), travellingFeed('all', 'ecs', 997), travellingTail(second), travellingConsumer(third)];
}

/** How many events to read on, where so many of those that are expected were read. */
function share(expected: readonly unknown[], read: readonly unknown[], statesLeft: number): number {
  return Math.ceil((expected.length - read.length) / statesLeft);
}

function travellingFeed(zones: ZoneList, format: FeedFormatName, limit: number): TravellingReader {
  let read: SeenEvent[] = [];
  let cursor: string | null = null;
  return {
    name: `feed of ${zones}`,
    advance: async ({ app, accepted }, statesLeft) => {
      const expected = accepted.inFeed(zones, 0);
      const pages = statesLeft === 1 ? Number.POSITIVE_INFINITY : Math.ceil(share(expected, read, statesLeft) / limit);
      const part = await readFeedPages(app, { zones: String(zones), format, limit, cursor, pages });
      read = read.concat(part.events);
      cursor = part.cursor;
      expectEvents({ events: read, isWhole: part.isWhole }, expected);
    },
  };
}

function travellingTail(zones: ZoneList): TravellingReader {
  let read: SeenEvent[] = [];
  let cursor: string | undefined;
  return {
    name: `tail of ${zones}`,
    advance: async ({ app, accepted }, statesLeft) => {
      const expected = accepted.inFeed(zones, 0);
      const most = statesLeft === 1 ? Number.POSITIVE_INFINITY : Math.max(1, share(expected, read, statesLeft));
      const part = await readTail(app, { zones: String(zones), cursor: cursor ?? app.cursorBehind(0), most });
      read = read.concat(part.events);
      cursor = part.cursor ?? cursor;
      expectEvents({ events: read, isWhole: part.isWhole }, expected);
    },
  };
}

function travellingConsumer(zones: ZoneList): TravellingReader {
  return {
    name: `consumer of ${zones}`,
    advance: async ({ app, accepted, folder }) => {
      const state = { folder: join(folder, 'consumers'), name: 'travelling' };
      const read = await runConsumer(app, { ...state, zones: String(zones), format: 'native', limit: 10_000, cursor: null });
      expectEvents(read, accepted.inFeed(zones, 0));
    },
  };
}
