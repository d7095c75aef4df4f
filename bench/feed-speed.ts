// Measures how fast the SIEM feed goes out over HTTP, page after page of flushed events, and how long a poll takes that has nothing new.
//   node bench/feed-speed.ts [--events N] [--formats native,ecs,ocsf,cef] [--encodings identity,gzip,zstd] [--zones all] [--polls N] [--memory-limit-mb N]
// The program runs in a process of its own; the client, in this one, counts lines and looks at nothing but the last.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { benchOptions, eventFile } from './events/event-file.ts';
import { integerOption } from './integer-option.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { percentile } from './report/percentile.ts';
import { textTable } from './report/text-table.ts';
import { readFeedPages } from './subjects/feed-client.ts';
import type { FeedOrder, FeedUsage } from './subjects/feed-subject-report.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    formats: { type: 'string', default: 'native,ecs,ocsf,cef' },
    encodings: { type: 'string', default: 'identity' },
    zones: { type: 'string', default: 'all' },
    polls: { type: 'string', default: '1000' },
    'memory-limit-mb': { type: 'string', default: '1024' },
  },
});
const events = integerOption('events', values.events);
const polls = integerOption('polls', values.polls);
const { path } = await eventFile(benchOptions(events));
const order: FeedOrder = { file: path, memoryLimitMb: integerOption('memory-limit-mb', values['memory-limit-mb']) };
const subject = fork(new URL('./subjects/feed-subject.ts', import.meta.url), [JSON.stringify(order)]);
const [url] = (await once(subject, 'message')) as [string];

async function usage(): Promise<FeedUsage> {
  subject.send('usage');
  const [used] = (await once(subject, 'message')) as [FeedUsage];
  return used;
}

const rows: string[][] = [];
let cursor = '';
for (const format of values.formats.split(',')) {
  for (const encoding of values.encodings.split(',')) {
    const before = await usage();
    const began = performance.now();
    const read = await readFeedPages(`${url}/shield/event-logs/${values.zones}/feed?limit=100000&format=${format}`, encoding);
    const seconds = (performance.now() - began) / 1_000;
    const after = await usage();
    cursor = read.cursor;
    const cpuMicros = ((after.cpuMs - before.cpuMs) * 1_000) / read.events;
    rows.push([
      format,
      encoding,
      String(read.events),
      String(Math.round(read.events / seconds)),
      (read.bytes / 1e6 / seconds).toFixed(0),
      cpuMicros.toFixed(1),
      (after.rssBytes / 1e6).toFixed(0),
    ]);
  }
}

const pollMs: number[] = [];
for (let poll = 0; poll < polls; poll += 1) {
  const began = performance.now();
  await (await fetch(`${url}/shield/event-logs/${values.zones}/feed?cursor=${cursor}`)).text();
  pollMs.push(performance.now() - began);
}
subject.disconnect();
await once(subject, 'exit');

const header = ['format', 'encoding', 'events', 'events/s', 'MB/s', 'CPU µs/event', 'resident MB'];
process.stdout.write(
  `${circumstancesText(circumstances({}))}\n\n${textTable('The feed over HTTP, 100,000 events a page', header, rows)}\n\n`,
);
const shown = [50, 99].map((share) => `p${share} ${percentile(pollMs, share / 100).toFixed(2)} ms`);
process.stdout.write(`${polls} polls with nothing new: ${shown.join(', ')}\n`);
