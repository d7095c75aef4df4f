import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { SecureContext } from 'node:tls';
import { printable } from '../../../query/search-line.ts';
import { addLongLines, NO_LONG_LINES } from '../../feed/line-limit.ts';
import { type FeedPatience, feedPatience, RETRY_TIMES, untilDone } from '../../sinks/feed-retry.ts';
import { openFileSink } from '../../sinks/file-sink.ts';
import { hecSink } from '../../sinks/hec-sink.ts';
import { createHttpClient } from '../../sinks/http-exchange.ts';
import { httpSink } from '../../sinks/http-sink.ts';
import { appendRejected } from '../../sinks/rejected-file.ts';
import type { RecordPosition, Sink, SinkPosition } from '../../sinks/sink.ts';
import { stdoutSink } from '../../sinks/stdout-sink.ts';
import { syslogSink } from '../../sinks/syslog-sink.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus } from '../command.ts';
import { conditionsOfLine, tellNotes } from '../search/search-options.ts';
import { trustedBy } from '../server-flags.ts';
import { endProcess, GRACE_MS, stopInSteps } from '../stop-signals.ts';
import { type FeedCounts, type FeedOutcome, isStop, runFeed } from './feed-loop.ts';
import { FEED_HELP, type FeedOptions, parseFeedOptions } from './feed-options.ts';
import { defaultStateFile, type FeedStateFile, openFeedState } from './feed-state.ts';
import { targetText } from './feed-target.ts';

/** 10,000 events take some 10 MiB. One event may take 1 MiB, and a few times that in a format that quotes it. */
export const MAX_PAGE_BYTES = 128 * 1024 * 1024;

interface SinkParts {
  readonly trust: SecureContext | null;
  readonly stdout: NodeJS.WritableStream;
  readonly position: SinkPosition;
  readonly record: RecordPosition;
  readonly now: () => number;
  readonly tell: (message: string) => void;
}

export const SYSLOG_SILENCE_MS = 30_000;
const ACK_POLL_MS = 1_000;

/** The machine's name, without characters that a syslog header cannot have. */
function syslogHostname(): string {
  return (
    hostname()
      .replace(/[^\x21-\x7e]/g, '')
      .slice(0, 255) || '-'
  );
}

/** Opens the sink that `--to` names, and sees that `--rejected` can be written. Throws DeliveryError where one cannot be used. */
async function openSink(options: FeedOptions, parts: SinkParts): Promise<Sink> {
  const { target, format, rotation, gzip, sinkToken: token, syslog, hec: fields, ackDeadlineMs, acceptAny, rejectedFile } = options;
  const reading = { acceptAny, setsAside: rejectedFile !== null };
  const { trust, stdout, position, record, now, tell } = parts;
  if (rejectedFile !== null) await appendRejected(rejectedFile, []);
  switch (target.kind) {
    case 'stdout':
      return stdoutSink(stdout);
    case 'file':
      return openFileSink({ path: target.path, rotation, position, record, now, tell });
    case 'http':
      return httpSink({ url: target.url, token, gzip, client: createHttpClient(trust), now, ...reading });
    case 'syslog': {
      const { host, port, tls } = target;
      const header = { ...syslog, hostname: syslogHostname(), processId: String(process.pid) };
      return syslogSink({ host, port, tls, trust, header, format, silenceMs: SYSLOG_SILENCE_MS });
    }
    case 'hec': {
      const client = createHttpClient(trust);
      const channel = randomUUID();
      const acks = { channel, ackDeadlineMs, ackPollMs: ACK_POLL_MS };
      return hecSink({ url: target.url, token, fields, format, gzip, ...acks, client, now, tell, ...reading });
    }
  }
}

interface Running {
  readonly options: FeedOptions;
  readonly stateFile: FeedStateFile;
  readonly stdout: NodeJS.WritableStream;
  readonly stopping: AbortSignal;
  readonly givenUp: AbortSignal;
  readonly patience: FeedPatience;
  readonly tell: (message: string) => void;
}

/** The numbers of a feed at its end. */
function told({ delivered, expired, rejected, shortened, tooLong }: FeedCounts, name: string, rejectedFile: string | null): string {
  const past = expired === 0 ? '' : `, of which ${expired} were past its retention and are not kept`;
  const aside = rejected === 0 ? '' : `; ${rejected} rejected events are in ${rejectedFile}`;
  const longer = tooLong === 0 ? '' : `, ${tooLong} of which are longer all the same`;
  const long = shortened === 0 ? '' : `; ${shortened} are without their log because of --max-line${longer}`;
  return `${delivered} events delivered to ${name}${past}${aside}${long}`;
}

/** The conditions of a search line as the feed takes them. */
function searchOf(line: string): string {
  const { query, filters, exclude } = conditionsOfLine(line);
  return JSON.stringify({ query, filters, exclude });
}

async function feed({ options, stateFile, stdout, stopping, givenUp, patience, tell }: Running): Promise<FeedOutcome> {
  const { search: line, target, rejectedFile } = options;
  const trust = trustedBy(options.caFile);
  const client = createHttpClient(trust);
  let { cursor, position, zones } = stateFile.state;
  // Keeps the last saved cursor, beside which the sink's positions are recorded.
  const followed: FeedStateFile = {
    ...stateFile,
    save: async (state) => {
      await stateFile.save(state);
      ({ cursor, position, zones } = state);
    },
  };
  const record = (next: SinkPosition): Promise<void> => followed.save({ cursor, position: next, zones });
  const retry = { ...RETRY_TIMES, stopping, tell, failed: patience.failed };
  // An attempt begins with the position that the one before it recorded.
  const open = () => openSink(options, { trust, stdout, position, record, now: Date.now, tell });
  let sink: Sink;
  try {
    sink = await patience.during(`${targetText(target)} to be opened`, () => untilDone(open, retry));
  } catch (error) {
    if (isStop(error, [stopping])) return 'stopped';
    throw error;
  }
  const search = line === null ? null : searchOf(line);
  const reader = { ...options, client, search, maxAnswerBytes: MAX_PAGE_BYTES, now: Date.now };
  let total: FeedCounts = { delivered: 0, expired: 0, rejected: 0, ...NO_LONG_LINES };
  try {
    const state = { cursor, position, zones };
    const loop = { ...options, reader, sink, stateFile: followed, state, stopping, givenUp, retry, patience, tell };
    return await runFeed(loop, (counts) => {
      const { delivered, expired, rejected } = counts;
      if (expired > 0 && total.expired === 0) tell(`${sink.name} does not keep all events: ${expired} of a batch are past its retention`);
      const events = { delivered: total.delivered + delivered, expired: total.expired + expired, rejected: total.rejected + rejected };
      total = { ...events, ...addLongLines(total, counts) };
    });
  } finally {
    if (target.kind !== 'stdout' || total.delivered > 0) tell(`${told(total, sink.name, rejectedFile)}; state: ${stateFile.path}`);
    await sink.close();
    client.close();
  }
}

async function run(args: readonly string[], { env, stdout, stderr }: CommandIo): Promise<ExitStatus> {
  const options = parseFeedOptions(args, env);
  const { url, zone, part, search, format, target } = options;
  const identity = { url: url.href, zone, part, search, format, to: targetText(target) };
  if (search !== null) tellNotes('feed', search, stderr);
  const stateFile = openFeedState(options.stateFile ?? defaultStateFile(identity, env), identity);
  const { stopping, givenUp, dispose } = stopInSteps();
  let end: NodeJS.Timeout | undefined;
  const patience = feedPatience(options.giveUpAfterMs, () => {
    stopping.abort();
    givenUp.abort();
    // Work that waits for a disk that hangs cannot be aborted, and would keep the process alive.
    end = setTimeout(() => {
      tell(givenUpMessage());
      endProcess(1);
    }, GRACE_MS);
  });
  const givenUpMessage = (): string =>
    `the feed is given up after ${Number(options.giveUpAfterMs) / 1_000} s without progress; it waited for ${patience.givenUp()}`;
  const tell = (message: string): void => void stderr.write(`shieldlog feed: ${printable(message)}\n`);
  try {
    await feed({ options, stateFile, stdout, stopping: stopping.signal, givenUp: givenUp.signal, patience, tell });
    if (patience.givenUp() !== null) throw new CommandFailed(givenUpMessage());
    return 0;
  } finally {
    clearTimeout(end);
    patience.close();
    dispose();
    stateFile.close();
  }
}

export const feedCommand: Command = {
  help: () => FEED_HELP,
  run,
};
