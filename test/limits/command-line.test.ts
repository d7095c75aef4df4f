import { Readable } from 'node:stream';
import { MAX_ZONE_PARTS } from '../../query/plan/feed-zones.ts';
import { MAX_PER_ANSWER } from '../../query/search-limits.ts';
import { UsageError } from '../../src/cli/command.ts';
import { MAX_PAGE_BYTES, SYSLOG_SILENCE_MS } from '../../src/cli/feed/feed-command.ts';
import { GIVE_UP_AFTER_MS, MAX_PATIENCE_DAYS, parseFeedOptions } from '../../src/cli/feed/feed-options.ts';
import { MAX_STREAMED_LINE_BYTES } from '../../src/cli/ingest/followed-stream.ts';
import { MAX_SHOWN_REJECTED } from '../../src/cli/ingest/intake-counts.ts';
import { MAX_UPLOAD_ANSWER_BYTES, UploadFailed, uploadEvents } from '../../src/cli/ingest/upload-events.ts';
import { MAX_HELD_ANSWER_BYTES as MAX_SEARCH_BYTES } from '../../src/cli/program-requests.ts';
import { MAX_RECENT_EVENTS, MAX_RECENT_LENGTH } from '../../src/cli/search/recent-events.ts';
import { parseQuestion } from '../../src/cli/search/search-command.ts';
import { MAX_TAIL_MESSAGE_LENGTH } from '../../src/cli/search/tail-stream.ts';
import { MAX_EVENTS, MAX_WAIT_SECONDS } from '../../src/feed/feed-request.ts';
import { MIN_LINE_BYTES } from '../../src/feed/line-limit.ts';
import { MAX_PAUSE_MS } from '../../src/sinks/feed-retry.ts';
import { hecSink, MAX_CHUNK_BYTES } from '../../src/sinks/hec-sink.ts';
import { createHttpClient, RECEIVER_LIMITS } from '../../src/sinks/http-exchange.ts';
import { httpSink, MAX_BODY_BYTES } from '../../src/sinks/http-sink.ts';
import { DeliveryError } from '../../src/sinks/sink.ts';
import { recordingUpstream } from '../edge/upstreams.ts';
import { hecListener } from '../src/sinks/hec-listener.ts';
import { httpListener } from '../src/sinks/http-listener.ts';
import { bytes, count, describeLimits, milliseconds } from './limit-table.ts';

/** Returns the outcome of the command `feed` with a flag. */
function feed(to: string, ...args: readonly string[]): string {
  try {
    parseFeedOptions(['--zone', '7', '--to', to, ...args], {});
    return 'ok';
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return 'status 2';
  }
}

/** Returns the outcome of the command `groups` with a flag. */
function groups(...args: readonly string[]): string {
  try {
    parseQuestion('groups', ['--group-by', 'ip', ...args], {});
    return 'ok';
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return 'status 2';
  }
}

const NOTHING_TAKEN = JSON.stringify({ accepted: 0, duplicates: 0, expired: 0, repaired: 0, rejected: [], rejectedCount: 0 });

/** Returns the outcome of `ingest` with an answer of so many bytes. */
async function uploadAnswered(size: number): Promise<string> {
  await using server = await recordingUpstream((_request, response) => response.writeHead(202).end(NOTHING_TAKEN.padEnd(size)));
  const events = Readable.from([Buffer.from('{}')]);
  try {
    await uploadEvents({ url: new URL(server.url), accessKey: null, trust: null, encoding: 'identity', source: 'http', body: events });
    return 'ok';
  } catch (error) {
    if (!(error instanceof UploadFailed)) throw error;
    return 'status 1';
  }
}

/** In how many requests two lines of so many bytes are sent to a receiver, which answers with `answer`. */
async function sentTo(kind: 'http' | 'splunk', size: number, answer = ''): Promise<string> {
  const listener = await (kind === 'http' ? httpListener(() => ({ status: 200, body: answer })) : hecListener());
  const { url } = listener;
  const common = {
    url,
    token: 'hec-token',
    gzip: false,
    client: createHttpClient(null),
    now: Date.now,
    acceptAny: false,
    setsAside: false,
  };
  const fields = { source: 's', sourcetype: 't', index: null, host: null };
  const hec = {
    fields,
    format: 'native',
    channel: '9f0cd5a5-6e3b-4c3a-9d8e-1f6f2b7c8d9e',
    ackDeadlineMs: 60_000,
    ackPollMs: 5,
    tell: () => undefined,
  } as const;
  const sink = kind === 'http' ? httpSink(common) : hecSink({ ...common, ...hec });
  const first = '{"timestamp":0}\n';
  const bytes = Buffer.from(`${first}${'{"timestamp":0}'.padEnd(size - first.length - 1)}\n`);
  try {
    await sink.deliver({ bytes, count: 2 }, new AbortController().signal);
    const sent = listener.received.filter(({ url: path }) => !path.includes('/ack')).length;
    return sent === 1 ? 'ok' : `${sent} requests`;
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    return error.code;
  } finally {
    await sink.close();
    await listener.stop();
  }
}

const [FILE, SYSLOG, SPLUNK] = ['out.ndjson', 'syslog+tcp://siem:80', 'splunk-hec+https://splunk:8088'];

describeLimits('Command line', import.meta.filename, {
  '`--limit` of `feed`': { is: count(MAX_EVENTS), ask: async (limit) => feed(FILE, '--limit', String(limit)) },
  '`--wait` of `feed`, in seconds': { is: count(MAX_WAIT_SECONDS), ask: async (wait) => feed(FILE, '--wait', String(wait)) },
  'parts of the zones, `N` of `--part`': {
    is: count(MAX_ZONE_PARTS),
    ask: async (parts) => feed(FILE, '--part', `1/${parts}`),
  },
  '`--max-line` of `feed`, in bytes, at least': {
    is: bytes(MIN_LINE_BYTES),
    past: MIN_LINE_BYTES - 1,
    ask: async (size) => feed(FILE, '--max-line', String(size)),
  },
  '`--give-up-after`, in days': { is: count(MAX_PATIENCE_DAYS), ask: async (days) => feed(FILE, '--give-up-after', `${days}d`) },
  'time of `feed --once` in which nothing gets further': {
    is: milliseconds(GIVE_UP_AFTER_MS),
    elsewhere: 'feed --once --give-up-after > ends with status 1 and says what it waited for when the program %s',
  },
  '`--keep`': { is: count(1_000_000), ask: async (keep) => feed(FILE, '--keep', String(keep)) },
  '`--ack-timeout`, in seconds': { is: count(3_600), ask: async (seconds) => feed(SPLUNK, '--ack-timeout', String(seconds)) },
  'characters of `--syslog-app-name`': { is: count(48), ask: async (length) => feed(SYSLOG, '--syslog-app-name', 'n'.repeat(length)) },
  'characters of `--syslog-msgid`': { is: count(32), ask: async (length) => feed(SYSLOG, '--syslog-msgid', 'n'.repeat(length)) },
  'bytes of a page of the feed': {
    is: bytes(MAX_PAGE_BYTES),
    elsewhere: 'a page that is too long to be held > is read in halves, and so are those behind it',
  },
  'pause between two attempts': {
    is: milliseconds(MAX_PAUSE_MS),
    elsewhere: 'an attempt > that fails is repeated, with pauses that double on average up to half a minute',
  },
  'bytes of a request to an HTTP receiver': { is: bytes(MAX_BODY_BYTES), ask: (size) => sentTo('http', size) },
  'bytes of an answer of an HTTP receiver': {
    is: bytes(RECEIVER_LIMITS.maxAnswerBytes),
    ask: (size) => sentTo('http', 100, 'x'.repeat(size)),
  },
  'time of an answer of an HTTP receiver or Splunk, from its status to its end': {
    is: milliseconds(RECEIVER_LIMITS.answerMs),
    elsewhere: 'an answer that means again: > one that never ends is given up',
  },
  'bytes of the events in a request to Splunk': { is: bytes(MAX_CHUNK_BYTES), ask: (size) => sentTo('splunk', size) },
  'silence of a syslog receiver': {
    is: milliseconds(SYSLOG_SILENCE_MS),
    elsewhere: 'a syslog receiver > that never closes the connection has not accepted the batch',
  },
  'acknowledgement of Splunk': {
    is: milliseconds(parseFeedOptions(['--zone', '7', '--to', SPLUNK], {}).ackDeadlineMs),
    elsewhere: "Splunk's event collector > that never acknowledges has not accepted the batch",
  },
  'rejected events that `ingest` names': {
    is: count(MAX_SHOWN_REJECTED),
    elsewhere: 'shieldlog ingest > lists what was rejected and ends with status 1',
  },
  '`--limit` of `search` and `groups`': { is: count(MAX_PER_ANSWER), ask: async (limit) => groups('--limit', String(limit)) },
  '`--buckets` of `groups`': { is: count(MAX_PER_ANSWER), ask: async (buckets) => groups('--buckets', String(buckets)) },
  'bytes of an answer to `search` or `groups`': {
    is: bytes(MAX_SEARCH_BYTES),
    elsewhere: 'an answer that is too long to be held says so',
  },
  'events of the past that `tail --last` shows': {
    is: count(MAX_RECENT_EVENTS),
    elsewhere: 'shieldlog tail --last > shows at most so many of the newest, and tells how many are older',
  },
  'characters of these events, behind which no further page is read': {
    is: count(MAX_RECENT_LENGTH),
    elsewhere: 'shieldlog tail --last > reads no further page of events that are very long',
  },
  'characters of a message of `tail`': {
    is: count(MAX_TAIL_MESSAGE_LENGTH),
    elsewhere: 'a message that is too long to be held ends the tail',
  },
  'bytes of a line of standard input that `ingest --follow` waits for': {
    is: bytes(MAX_STREAMED_LINE_BYTES),
    elsewhere: 'standard input that is followed > with a line that never ends is refused',
  },
  'bytes of an answer to `ingest`': { is: bytes(MAX_UPLOAD_ANSWER_BYTES), ask: uploadAnswered },
});
