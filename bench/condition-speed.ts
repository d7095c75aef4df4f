// Measures what reading the feed for a condition costs of a core for each stored event, beside the intake:
//   node bench/condition-speed.ts [--events N] [--batch N] [--memory-limit-mb N]
// `following` reads after every fourth batch, as events come in; `flushed` reads all of them once they are in files and merged. Events are
// read without their logs and parsed. The intake alone is taken off what is measured while events come in.
import { BatchBuilder } from '../ingest/event/batch-builder.ts';
import { MINUTE_MS } from '../query/durations.ts';
import type { Predicate } from '../query/plan/search-plan.ts';
import { openEmbeddedStore } from '../store/embedded/open-store.ts';
import type { EventStore, FeedPosition } from '../store/event-store.ts';
import { readFields } from '../store/feed-event.ts';
import { BENCH_NOW_MS, inEmptyDataDir, liveOptions } from './events/event-file.ts';
import { generateEvents } from './events/event-generator.ts';
import { RULES } from './events/traffic-pools.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { textTable } from './report/figures.ts';

const RETENTION_MS = 72 * 60 * MINUTE_MS;
const READ_EVERY = 4;

const equals = (column: 'ruleId' | 'ip', values: readonly string[]): Predicate => ({ kind: 'equals', column, values, folded: false });

const CONDITIONS: Readonly<Record<string, Predicate>> = {
  'everything, read and parsed': { kind: 'everything' },
  'a rare rule': equals('ip', ['192.0.2.1']),
  'eight usual rules': equals(
    'ruleId',
    RULES.slice(0, 8).map(({ id }) => id),
  ),
  'a hundred texts': {
    kind: 'any',
    of: Array.from({ length: 100 }, (_, nth) => ({ kind: 'contains', column: 'url', needle: `never-${nth}` })),
  },
};

const { events, batch, 'memory-limit-mb': memoryLimitMb } = givenOptions({ events: 200_000, batch: 2_000, 'memory-limit-mb': 1_024 });

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

interface Followed {
  /** Microseconds of a core for each stored event. */
  readonly following: number;
  readonly flushed: number;
  readonly matching: number;
}

/** Reads what is new for a condition; returns where it ends, and how many events matched. */
async function readOn(store: EventStore, where: Predicate, from: FeedPosition): Promise<readonly [FeedPosition, number]> {
  let [after, matching] = [from, 0];
  for (let more = true; more; ) {
    const page = await store.readFeed({ zones: 'all', where, logs: false, after, limit: 100_000 });
    for (const line of page.lines) readFields(line);
    matching += page.lines.length;
    after = page.end;
    more = page.more;
  }
  return [after, matching];
}

/** Stores the events of a run, and reads them for a condition; null reads none. */
function follow(where: Predicate | null): Promise<Followed> {
  return inEmptyDataDir('condition', async (dataDir) => {
    const now = () => BENCH_NOW_MS;
    const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now });
    const builder = new BatchBuilder({ now, retentionMs: RETENTION_MS });
    const lines = [...generateEvents(liveOptions(events))];
    const before = cpuMicros();
    let after = await store.positions.oldest();
    for (let begin = 0; begin < events; begin += batch) {
      for (const line of lines.slice(begin, begin + batch)) builder.addEvent('http', line);
      await store.append(builder.take());
      if (where !== null && (begin / batch) % READ_EVERY === READ_EVERY - 1) [after] = await readOn(store, where, after);
    }
    const following = (cpuMicros() - before) / events;
    await store.flushNow();
    await store.compactNow();
    const begun = cpuMicros();
    const [, matching] = where === null ? [after, 0] : await readOn(store, where, await store.positions.oldest());
    const flushed = (cpuMicros() - begun) / events;
    await store.close();
    return { following, flushed, matching };
  });
}

// What is loaded and compiled first counts for none of them.
await follow(null);
const intake = await follow(null);
const rows: string[][] = [];
for (const [name, where] of Object.entries(CONDITIONS)) {
  const { following, flushed, matching } = await follow(where);
  rows.push([name, String(matching), (following - intake.following).toFixed(2), flushed.toFixed(2)]);
}
const title = `µs of CPU for each of ${events} stored events, beside ${intake.following.toFixed(1)} for the intake`;
process.stdout.write(`${circumstancesText(circumstances({}))}\n\n`);
process.stdout.write(`${textTable(title, ['condition', 'events found', 'following', 'flushed'], rows)}\n`);
