// Measures the speed of the SIEM feed over HTTP, page after page of flushed events, and the time of a poll without new events:
//   node bench/feed-speed.ts [--events N] [--formats native,ecs] [--encodings identity,gzip,zstd] [--zones all] [--polls N]
//     [--memory-limit-mb N]
// The program runs in a separate process. The client runs in this one and reads only the last line of a page.
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { FEED_FORMAT_NAMES } from '../src/formats/feed-formats.ts';
import { benchOptions, eventFile } from './events/event-file.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { percentile, textTable } from './report/figures.ts';
import type { FeedOrder, FeedUsage } from './subjects/feed-subject.ts';
import { forkedSubject } from './subjects/fork-subject.ts';

interface FeedRead {
  readonly events: number;
  /** Bytes on the wire, compressed or not. */
  readonly bytes: number;
  readonly cursor: string;
}

const UNPACK = { gzip: createGunzip, zstd: createZstdDecompress };

/** Reads a feed page by page to its end. */
async function readFeedPages(url: string, encoding: string): Promise<FeedRead> {
  const agent = new Agent({ keepAlive: true });
  let [events, bytes, cursor] = [0, 0, ''];
  for (;;) {
    const address = cursor === '' ? url : `${url}&cursor=${cursor}`;
    const [response] = (await once(get(address, { agent, headers: { 'accept-encoding': encoding } }), 'response')) as [IncomingMessage];
    let tail = Buffer.alloc(0);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const content = encoding === 'gzip' || encoding === 'zstd' ? response.pipe(UNPACK[encoding]()) : response;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      tail = Buffer.concat([tail.subarray(-256), chunk.subarray(-256)]);
    }
    const last = tail.toString('latin1').trimEnd().split('\n').at(-1) ?? '';
    if (response.statusCode !== 200) {
      throw new Error(`${address}: ${response.statusCode}`);
    }
    const page = JSON.parse(last) as { readonly cursor: string; readonly more: boolean; readonly count: number };
    events += page.count;
    cursor = page.cursor;
    if (!page.more) {
      agent.destroy();
      return { events, bytes, cursor };
    }
  }
}

const {
  events,
  formats,
  encodings,
  zones,
  polls,
  'memory-limit-mb': memoryLimitMb,
} = givenOptions({
  events: 1_000_000,
  formats: FEED_FORMAT_NAMES.join(),
  encodings: 'identity',
  zones: 'all',
  polls: 1_000,
  'memory-limit-mb': 1_024,
});
const { path } = await eventFile(benchOptions(events));
const order: FeedOrder = { file: path, memoryLimitMb };
const subject = forkedSubject('feed-subject.ts', order);
const [url] = (await once(subject, 'message')) as [string];

async function usage(): Promise<FeedUsage> {
  subject.send('usage');
  const [used] = (await once(subject, 'message')) as [FeedUsage];
  return used;
}

const rows: string[][] = [];
let cursor = '';
for (const format of formats.split(',')) {
  for (const encoding of encodings.split(',')) {
    const before = await usage();
    const began = performance.now();
    const read = await readFeedPages(`${url}/shield/event-logs/${zones}/feed?limit=100000&format=${format}`, encoding);
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
  await (await fetch(`${url}/shield/event-logs/${zones}/feed?cursor=${cursor}`)).text();
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
