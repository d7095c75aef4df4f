import { readFileSync } from 'node:fs';
import { setTimeout as timer } from 'node:timers/promises';
import type { SecureContext } from 'node:tls';
import { DeliveryError } from '../../sinks/delivery-error.ts';
import { createHttpClient } from '../../sinks/http-exchange.ts';
import type { SinkPosition } from '../../sinks/sink.ts';
import { trustIn } from '../../sinks/trust.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus } from '../command.ts';
import { endProcess } from '../end-process.ts';
import { printable } from '../printable.ts';
import { stopSignals } from '../stop-signals.ts';
import { FEED_HELP } from './feed-help.ts';
import { type FeedOutcome, runFeed } from './feed-loop.ts';
import { type FeedOptions, parseFeedOptions } from './feed-options.ts';
import { type FeedPatience, feedPatience } from './feed-patience.ts';
import { openFeedSink } from './feed-sink.ts';
import { defaultStateFile, type FeedStateFile, openFeedState } from './feed-state.ts';
import { targetText } from './feed-target.ts';

/** What a batch under way gets after the first signal; those who stop processes often wait 10 s before they kill. */
const GRACE_MS = 5_000;

function trustOf(file: string | null): SecureContext | null {
  if (file === null) return null;
  try {
    return trustIn(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`--ca ${file} has no certificates that can be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Ten thousand events have some ten MiB; one may have a MiB, and a few times that in a format that quotes it. */
export const LARGEST_PAGE_BYTES = 128 * 1024 * 1024;

interface Running {
  readonly options: FeedOptions;
  readonly stateFile: FeedStateFile;
  readonly stdout: NodeJS.WritableStream;
  readonly stopping: AbortSignal;
  readonly givenUp: AbortSignal;
  readonly patience: FeedPatience;
  readonly tell: (message: string) => void;
}

async function feed({ options, stateFile, stdout, stopping, givenUp, patience, tell }: Running): Promise<FeedOutcome> {
  const { url, zone, accessKey, format, limit, fromNow, once, waitSeconds, target } = options;
  const trust = trustOf(options.caFile);
  const client = createHttpClient(trust);
  let { cursor, position, zones } = stateFile.state;
  // The cursor that a position recorded by the sink stands beside is the one saved last.
  const followed: FeedStateFile = {
    ...stateFile,
    save: async (state) => {
      await stateFile.save(state);
      ({ cursor, position, zones } = state);
    },
  };
  const record = (next: SinkPosition): Promise<void> => followed.save({ cursor, position: next, zones });
  const open = () => openFeedSink(options, { trust, stdout, position, record, now: Date.now, tell });
  const sink = await patience.during(`${targetText(target)} to be opened`, open);
  const pause = (lengthMs: number, signal: AbortSignal): Promise<void> => timer(lengthMs, undefined, { signal });
  const retry = { stopping, random: Math.random, tell, failed: patience.failed, pause };
  const reader = { client, url, zone, accessKey, format, largestBytes: LARGEST_PAGE_BYTES, now: Date.now };
  let total = 0;
  try {
    const loop = {
      reader,
      sink,
      stateFile: followed,
      state: { cursor, position, zones },
      fromNow,
      once,
      limit,
      waitSeconds,
      stopping,
      givenUp,
      retry,
      patience,
      tell,
    };
    return await runFeed(loop, (count) => {
      total += count;
    });
  } finally {
    if (target.kind !== 'stdout' || total > 0) tell(`${total} events delivered to ${sink.name}; state: ${stateFile.path}`);
    await sink.close();
    client.close();
  }
}

async function run(args: readonly string[], { env, stdout, stderr }: CommandIo): Promise<ExitStatus> {
  const options = parseFeedOptions(args, env);
  const { url, zone, format, target } = options;
  const identity = { url: url.href, zone, format, to: targetText(target) };
  const stateFile = openFeedState(options.stateFile ?? defaultStateFile(identity, env), identity);
  const [stopping, givenUp] = [new AbortController(), new AbortController()];
  const signals = stopSignals(process);
  let grace: NodeJS.Timeout | undefined;
  const onSignal = (): void => {
    stopping.abort();
    grace = setTimeout(() => givenUp.abort(), GRACE_MS);
  };
  void signals.received.then(onSignal);
  const patience = feedPatience(options.giveUpAfterMs, () => {
    stopping.abort();
    givenUp.abort();
    // A disk that does not answer holds the work, and the end of the process, whatever is aborted.
    grace = setTimeout(() => {
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
  } catch (error) {
    if (error instanceof DeliveryError) throw new CommandFailed(error.message, { cause: error });
    throw error;
  } finally {
    clearTimeout(grace);
    patience.close();
    signals.dispose();
    stateFile.close();
  }
}

export const feedCommand: Command = {
  name: 'feed',
  summary: 'pass the events of a running program on to a file, a SIEM, standard output',
  help: () => FEED_HELP,
  run,
};
