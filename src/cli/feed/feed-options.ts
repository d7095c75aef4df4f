import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { MINUTE_MS } from '../../../query/durations.ts';
import { ZONE_PART_FORM, zonePartIn } from '../../../query/plan/feed-zones.ts';
import { DEFAULT_EVENTS, MAX_EVENTS, MAX_WAIT_SECONDS } from '../../feed/feed-request.ts';
import { MIN_LINE_BYTES } from '../../feed/line-limit.ts';
import { DEFAULT_FEED_FORMAT, FEED_FORMAT_NAMES, type FeedFormatName } from '../../formats/feed-formats.ts';
import { DEFAULT_PATTERN, type FileRotation, patternFault } from '../../sinks/file-rotation.ts';
import type { HecFields } from '../../sinks/hec-sink.ts';
import { FACILITIES, type Facility, SEVERITIES, type Severity } from '../../sinks/syslog-sink.ts';
import { type CommandIo, parseCommandLine, UsageError } from '../command.ts';
import { choice, duration, optional, refuseFlag, wholeNumberFlag, zoneList } from '../flag-values.ts';
import { conditionsOfLine } from '../search/search-options.ts';
import { ACCESS_KEY_FLAGS, ACCESS_KEY_HELP, accessKeyOf, clientSecret, DEFAULT_URL, serverUrlOf } from '../server-flags.ts';
import { type FeedTarget, type FeedTargetKind, isLoopback, parseFeedTarget } from './feed-target.ts';

/** The command line of `shieldlog feed`. */
export interface FeedOptions {
  readonly url: URL;
  readonly accessKey: string | null;
  /** The zones as the path of the feed has them: `all`, or zone ids with commas between, ascending. */
  readonly zone: string;
  /** The part of the zones as the feed takes it, `K/N`; null: all of them. */
  readonly part: string | null;
  readonly format: FeedFormatName;
  /** The search line of the events that are passed on; null: all of them. */
  readonly search: string | null;
  /** The most that a line may take, in bytes; null: any length. */
  readonly maxLine: number | null;
  readonly target: FeedTarget;
  /** Null: `defaultStateFile`. */
  readonly stateFile: string | null;
  /** Without a state, begin with the next event instead of the oldest. */
  readonly fromNow: boolean;
  readonly once: boolean;
  /** The longest wait for the program or the target; null: no limit. */
  readonly giveUpAfterMs: number | null;
  readonly limit: number;
  readonly waitSeconds: number;
  readonly rotation: FileRotation;
  readonly caFile: string | null;
  readonly gzip: boolean;
  /** Whether any 2xx of an HTTP receiver or Splunk accepts a request, whatever its body says. */
  readonly acceptAny: boolean;
  /** Where refused events are appended; null: they end the feed. */
  readonly rejectedFile: string | null;
  readonly sinkToken: string | null;
  readonly syslog: { readonly facility: Facility; readonly severity: Severity; readonly appName: string; readonly messageId: string };
  readonly hec: HecFields;
  readonly ackDeadlineMs: number;
}

/** The kinds of target to which a flag applies; other flags apply to all. */
const ONLY_FOR: Readonly<Record<string, readonly FeedTargetKind[]>> = {
  'rotate-size': ['file'],
  'rotate-every': ['file'],
  'rotate-name': ['file'],
  keep: ['file'],
  gzip: ['http', 'hec'],
  rejected: ['http', 'hec'],
  'accept-any': ['http', 'hec'],
  'syslog-facility': ['syslog'],
  'syslog-severity': ['syslog'],
  'syslog-app-name': ['syslog'],
  'syslog-msgid': ['syslog'],
  'hec-index': ['hec'],
  'hec-source': ['hec'],
  'hec-sourcetype': ['hec'],
  'hec-host': ['hec'],
  'ack-timeout': ['hec'],
};

const VALUE_FLAGS = [
  ...['zone', 'part', 'search', 'format', 'to', 'url', ...ACCESS_KEY_FLAGS, 'state', 'limit', 'wait', 'max-line', 'give-up-after', 'ca'],
  ...Object.keys(ONLY_FOR).filter((name) => name !== 'gzip' && name !== 'accept-any'),
];

/** A timer of Node with more than 2^31 - 1 milliseconds fires at once. */
export const MAX_PATIENCE_DAYS = 24;

/** The default with `--once`, whose caller waits for the end. */
export const GIVE_UP_AFTER_MS = 10 * MINUTE_MS;

const ACK_TIMEOUT_SECONDS = 60;

const BYTES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Parses `500`, `64k`, `100M`, `2G` to bytes. */
function byteSize(flag: string, text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,12})([kmg]?)$/i.exec(text) ?? [];
  const size = Number(digits) * (BYTES[unit.toLowerCase()] ?? 0);
  return size >= 1 && size <= Number.MAX_SAFE_INTEGER ? size : refuseFlag(flag, text, 'a size such as 500000, 64k, 100M, 2G');
}

/** Parses the bytes of a line. */
function lineSize(text: string): number {
  const size = byteSize('max-line', text);
  return size >= MIN_LINE_BYTES ? size : refuseFlag('max-line', text, `a size of ${MIN_LINE_BYTES} bytes or more, such as 8k`);
}

/** A search line without faults. */
function searchLine(line: string): string {
  conditionsOfLine(line);
  return line;
}

function zonePart(text: string): string {
  return zonePartIn(text) === null ? refuseFlag('part', text, ZONE_PART_FORM) : text;
}

/** A name in a syslog header (RFC 5424): printable ASCII without blanks. */
function syslogName(flag: string, text: string, maxLength: number): string {
  return /^[\x21-\x7e]+$/.test(text) && text.length <= maxLength
    ? text
    : refuseFlag(flag, text, `1 to ${maxLength} printable ASCII characters without blanks`);
}

type Flags = Readonly<Record<string, string>>;

function required(flags: Flags, name: string, about: string): string {
  const value = flags[name];
  if (value === undefined) throw new UsageError(`feed needs --${name} ${about}`);
  return value;
}

function requireFitting(given: readonly string[], { kind }: FeedTarget): void {
  const stray = given.find((name) => ONLY_FOR[name]?.includes(kind) === false);
  if (stray !== undefined) throw new UsageError(`--${stray} does not go with a --to of this kind`);
}

function rotationOf(flags: Flags): FileRotation {
  const pattern = flags['rotate-name'] ?? DEFAULT_PATTERN;
  const fault = patternFault(pattern);
  if (fault !== null) throw new UsageError(`--rotate-name "${pattern}" ${fault}; allowed: a name with {n}, and {stem}, {ext}, {time}`);
  return {
    sizeBytes: optional(flags, 'rotate-size', (text) => byteSize('rotate-size', text)),
    everyMs: optional(flags, 'rotate-every', (text) => duration('rotate-every', text)),
    pattern,
    keep: optional(flags, 'keep', (text) => wholeNumberFlag('keep', text, 0, 1_000_000)),
  };
}

/** Reads the target's token, for which an empty variable counts as unset. Messages never show it. */
function sinkTokenOf(env: CommandIo['env'], target: FeedTarget): string | null {
  if (target.kind !== 'http' && target.kind !== 'hec') return null;
  const token = clientSecret('SHIELDLOG_SINK_TOKEN', null, {}, env);
  if (token === null) return null;
  if (!/^[\x21-\x7e]+$/.test(token.text)) {
    throw new UsageError(`${token.setting} is not allowed; allowed: a token of printable ASCII characters without blanks`);
  }
  if (target.url.protocol === 'http:' && !isLoopback(target.url)) {
    throw new UsageError(`${token.setting} is not sent to ${target.url.origin} in the clear; use https://`);
  }
  return token.text;
}

/** The file that a path leads to by links, also where it is not there yet. */
function placeOf(path: string): string {
  for (const [folder, name] of [
    [path, ''],
    [dirname(path), basename(path)],
  ] as const) {
    try {
      return join(realpathSync(folder), name);
    } catch {
      // It is not there, or cannot be looked at. Whoever opens it says so.
    }
  }
  return resolve(path);
}

/** Refuses one file for the state and for events: a state replaces its file. */
function refuseSharedFile({ state, rejected }: Flags, target: FeedTarget): void {
  if (state === undefined) return;
  const taken = ['', '.tmp', '.lock'].map((ending) => placeOf(`${state}${ending}`));
  for (const [flag, path] of Object.entries({ rejected, to: target.kind === 'file' ? target.path : undefined })) {
    if (path !== undefined && taken.includes(placeOf(path))) {
      throw new UsageError(`--state "${state}" and --${flag} "${path}" are one file, or one beside the state; give each its own`);
    }
  }
}

/** Parses the command line of `feed`. Throws UsageError. */
export function parseFeedOptions(args: readonly string[], env: CommandIo['env']): FeedOptions {
  const { flags, switches, positionals } = parseCommandLine(args, VALUE_FLAGS, ['from-now', 'once', 'gzip', 'accept-any']);
  if (positionals[0] !== undefined) throw new UsageError(`Unexpected argument '${positionals[0]}'; feed takes only flags`);
  const target = parseFeedTarget(required(flags, 'to', 'FILE, -, or the URL of a receiver'));
  requireFitting([...Object.keys(flags), ...switches], target);
  refuseSharedFile(flags, target);
  const format = choice('format', flags['format'] ?? DEFAULT_FEED_FORMAT, FEED_FORMAT_NAMES);
  const giveUpAfterMs =
    optional(flags, 'give-up-after', (text) => duration('give-up-after', text, MAX_PATIENCE_DAYS)) ??
    (switches.has('once') ? GIVE_UP_AFTER_MS : null);
  return {
    url: serverUrlOf(flags['url']),
    accessKey: accessKeyOf(flags, env),
    zone: zoneList(required(flags, 'zone', 'ZONE[,ZONE…] or all')),
    part: optional(flags, 'part', zonePart),
    search: optional(flags, 'search', searchLine),
    format,
    target,
    stateFile: flags['state'] ?? null,
    fromNow: switches.has('from-now'),
    once: switches.has('once'),
    giveUpAfterMs,
    limit: wholeNumberFlag('limit', flags['limit'] ?? String(DEFAULT_EVENTS), 1, MAX_EVENTS),
    // A longer wait for an answer would count as a feed that is stuck.
    waitSeconds: Math.min(
      wholeNumberFlag('wait', flags['wait'] ?? String(MAX_WAIT_SECONDS), 0, MAX_WAIT_SECONDS),
      Math.floor((giveUpAfterMs ?? Number.POSITIVE_INFINITY) / 2_000),
    ),
    maxLine: optional(flags, 'max-line', lineSize),
    rotation: rotationOf(flags),
    caFile: flags['ca'] ?? null,
    gzip: switches.has('gzip'),
    acceptAny: switches.has('accept-any'),
    rejectedFile: optional(flags, 'rejected', (file) => resolve(file)),
    sinkToken: sinkTokenOf(env, target),
    syslog: {
      facility: choice('syslog-facility', flags['syslog-facility'] ?? 'local0', FACILITIES),
      severity: choice('syslog-severity', flags['syslog-severity'] ?? 'info', SEVERITIES),
      appName: syslogName('syslog-app-name', flags['syslog-app-name'] ?? 'shieldlog', 48),
      messageId: syslogName('syslog-msgid', flags['syslog-msgid'] ?? format, 32),
    },
    hec: {
      source: flags['hec-source'] ?? 'shieldlog',
      sourcetype: flags['hec-sourcetype'] ?? `shieldlog:${format}`,
      index: flags['hec-index'] ?? null,
      host: flags['hec-host'] ?? null,
    },
    ackDeadlineMs: wholeNumberFlag('ack-timeout', flags['ack-timeout'] ?? String(ACK_TIMEOUT_SECONDS), 1, 3_600) * 1_000,
  };
}

const WAIT_HELP = `How long a question for more waits for an answer, 0..${MAX_WAIT_SECONDS} (default ${MAX_WAIT_SECONDS})`;

/** The text of `shieldlog feed --help`. */
export const FEED_HELP = `Usage: shieldlog feed --zone ZONE[,ZONE…]|all --to TARGET [flags]

Passes the events of a running shieldlog on, in the order in which they came in, and goes on doing so. How far it got is kept in a
state file, after the target has accepted a batch: whatever is killed, no event is lost, and only the batch under way may arrive again.

  --to TARGET
      FILE                          appended to; with its state, every event is in it exactly once
      -                             standard output
      http://… or https://…         POST of NDJSON; a 2xx accepts a batch, unless its body tells of refused events
      syslog+tcp://HOST:PORT        RFC 5424 messages with octet counting; syslog+tls:// with TLS
      splunk-hec+https://HOST:PORT  Splunk's HTTP event collector (splunk-hec+http:// on loopback)
  --search LINE
      Only the events that this search finds, such as 'action:blocked -country:NL'; the words are those of 'shieldlog search --help'.
  --format ${FEED_FORMAT_NAMES.join('|')}
      How the events are written (default ${DEFAULT_FEED_FORMAT}: what 'shieldlog ingest' takes).
  --part K/N
      Only the K-th of N parts of the zones, by their numbers modulo N, for N feeds side by side: each zone, also one that is new, is
      in one part. Without it, all of the zones.
  --url URL
      The running program (default ${DEFAULT_URL}).
${ACCESS_KEY_HELP}
  --state FILE
      Where it is kept how far it got. Default: feed-HASH.json in $XDG_STATE_HOME/shieldlog (unset: ~/.local/state/shieldlog), HASH
      being of --url, --zone, --part, --search, --format and --to. A copy of it is a beginning for each of several parts.
  --from-now
      Where there is no state yet, begin with the events to come; without it, with the oldest there are.
  --once
      End when there is nothing more, instead of waiting for it.
  --give-up-after TIME
      End with status 1 when nothing gets further for so long, such as 30s or 15m: the program or the target is away, answers that it
      cannot, or hangs. Default: ${GIVE_UP_AFTER_MS / MINUTE_MS}m with --once; without it, never.
  --limit N
      Events in a batch, 1..${MAX_EVENTS} (default ${DEFAULT_EVENTS}).
  --wait SECONDS
      ${WAIT_HELP}; at most half of --give-up-after.
  --max-line BYTES
      Send an event whose line would be longer with the size of its log in place of its log, ${MIN_LINE_BYTES} or more, such as 8k: for
      receivers that cut or drop long lines. What is longer all the same is sent so. Both are counted.
  --ca FILE
      PEM certificates of authorities to trust beside the usual ones, for --url and --to.
  SHIELDLOG_SINK_TOKEN, SHIELDLOG_SINK_TOKEN_FILE
      A secret for the target, or a file that holds it, from the environment only: for http(s) as 'Bearer' and
      as AccessKey, for Splunk its token.

For a FILE:
  --rotate-size SIZE
      Set the file aside before it gets longer, such as 100M. A batch is never divided.
  --rotate-every TIME
      Set the file aside when the UTC clock passes a multiple of it, such as 1h or 1d.
  --rotate-name PATTERN
      What it is then called (default ${DEFAULT_PATTERN}).
  --keep N
      How many of the files set aside are kept (default: all).

For http(s) and Splunk:
  --gzip
      Compress what is sent.
  --rejected FILE
      Append the events to FILE that the target refuses and names, and deliver the others. Without it, they end the feed.
  --accept-any
      Take any 2xx for accepted, whatever its body says.

For syslog:
  --syslog-facility NAME, --syslog-severity NAME, --syslog-app-name NAME, --syslog-msgid NAME
      Of every message (defaults local0, info, shieldlog, and the format's name).

For Splunk:
  --hec-index NAME, --hec-source NAME, --hec-sourcetype NAME, --hec-host NAME
      Of every event (defaults: the token's, shieldlog, shieldlog:FORMAT, the token's).
  --ack-timeout SECONDS
      Send again what is not acknowledged by then (default ${ACK_TIMEOUT_SECONDS}).

SIGINT and SIGTERM finish the batch under way and end it with status 0.
Exit status: 0 done or stopped, 1 the program or the target refuses for a reason that does not pass, or the
feed was given up, 2 wrong usage.
`;
