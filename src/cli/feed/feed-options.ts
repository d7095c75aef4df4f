import { FEED_FORMATS, type FeedFormatName } from '../../formats/feed-format.ts';
import { DEFAULT_PATTERN, type FileRotation, patternFault } from '../../sinks/file-rotation.ts';
import type { HecFields } from '../../sinks/hec-event.ts';
import { FACILITIES, type Facility, SEVERITIES, type Severity } from '../../sinks/syslog-message.ts';
import type { CommandIo } from '../command.ts';
import { parseCommandLine, UsageError } from '../command-line.ts';
import { ACCESS_KEY_FLAGS, accessKeyOf, clientSecret, serverUrlOf } from '../server-flags.ts';
import { type FeedTarget, type FeedTargetKind, isLoopback, parseFeedTarget } from './feed-target.ts';
import { byteSize, choice, duration, syslogName, wholeNumber, zoneList } from './feed-values.ts';

/** What `shieldlog feed` was asked to do. */
export interface FeedOptions {
  readonly url: URL;
  readonly accessKey: string | null;
  /** The zone place of the feed's path. */
  readonly zone: string;
  readonly format: FeedFormatName;
  readonly target: FeedTarget;
  /** Null: the default place. */
  readonly stateFile: string | null;
  /** Where there is no state yet, begin with what comes next. */
  readonly fromNow: boolean;
  readonly once: boolean;
  /** How long the program or the target may keep the feed from getting further; null: for ever. */
  readonly giveUpAfterMs: number | null;
  readonly limit: number;
  readonly waitSeconds: number;
  readonly rotation: FileRotation;
  readonly caFile: string | null;
  readonly gzip: boolean;
  readonly sinkToken: string | null;
  readonly syslog: { readonly facility: Facility; readonly severity: Severity; readonly appName: string; readonly messageId: string };
  readonly hec: HecFields;
  readonly ackDeadlineMs: number;
}

/** Flags that mean something to some targets only. */
const ONLY_FOR: Readonly<Record<string, readonly FeedTargetKind[]>> = {
  'rotate-size': ['file'],
  'rotate-every': ['file'],
  'rotate-name': ['file'],
  keep: ['file'],
  gzip: ['http', 'hec'],
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
  ...['zone', 'format', 'to', 'url', ...ACCESS_KEY_FLAGS, 'state', 'limit', 'wait', 'give-up-after', 'ca'],
  ...Object.keys(ONLY_FOR).filter((name) => name !== 'gzip'),
];

/** A timer of Node that is longer than 2^31 - 1 milliseconds fires at once. */
export const MAX_PATIENCE_DAYS = 24;

/** With `--once`: what started it waits for its end. */
export const GIVE_UP_AFTER_MS = 10 * 60_000;

type Flags = Readonly<Record<string, string>>;

function required(flags: Flags, name: string, about: string): string {
  const value = flags[name];
  if (value === undefined) throw new UsageError(`feed needs --${name} ${about}`);
  return value;
}

function optional<Value>(flags: Flags, name: string, parse: (text: string) => Value): Value | null {
  const text = flags[name];
  return text === undefined ? null : parse(text);
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
    keep: optional(flags, 'keep', (text) => wholeNumber('keep', text, 0, 1_000_000)),
  };
}

/** An empty variable counts as unset. The token itself is never shown. */
function sinkTokenOf(env: CommandIo['env'], target: FeedTarget): string | null {
  if (target.kind !== 'http' && target.kind !== 'hec') return null;
  const token = clientSecret('SHIELDLOG_SINK_TOKEN', null, {}, env);
  if (token === null) return null;
  if (!/^[\x21-\x7e]+$/.test(token.text)) {
    throw new UsageError(`${token.place} is not allowed; allowed: a token of printable ASCII characters without blanks`);
  }
  if (target.url.protocol === 'http:' && !isLoopback(target.url)) {
    throw new UsageError(`${token.place} is not sent to ${target.url.origin} in the clear; use https://`);
  }
  return token.text;
}

/** Parses the command line of `feed`. Throws UsageError. */
export function parseFeedOptions(args: readonly string[], env: CommandIo['env']): FeedOptions {
  const { flags, switches, positionals } = parseCommandLine(args, VALUE_FLAGS, ['from-now', 'once', 'gzip']);
  if (positionals[0] !== undefined) throw new UsageError(`Unexpected argument '${positionals[0]}'; feed takes only flags`);
  const target = parseFeedTarget(required(flags, 'to', 'FILE, -, or the URL of a receiver'));
  requireFitting([...Object.keys(flags), ...switches], target);
  const format = choice('format', flags['format'] ?? 'native', FEED_FORMATS);
  const giveUpAfterMs =
    optional(flags, 'give-up-after', (text) => duration('give-up-after', text, MAX_PATIENCE_DAYS)) ??
    (switches.has('once') ? GIVE_UP_AFTER_MS : null);
  return {
    url: serverUrlOf(flags['url']),
    accessKey: accessKeyOf(flags, env),
    zone: zoneList(required(flags, 'zone', 'ZONE[,ZONE…] or all')),
    format,
    target,
    stateFile: flags['state'] ?? null,
    fromNow: switches.has('from-now'),
    once: switches.has('once'),
    giveUpAfterMs,
    limit: wholeNumber('limit', flags['limit'] ?? '10000', 1, 100_000),
    // An answer that is waited for for longer than that would look like none.
    waitSeconds: Math.min(
      wholeNumber('wait', flags['wait'] ?? '30', 0, 30),
      Math.floor((giveUpAfterMs ?? Number.POSITIVE_INFINITY) / 2_000),
    ),
    rotation: rotationOf(flags),
    caFile: flags['ca'] ?? null,
    gzip: switches.has('gzip'),
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
    ackDeadlineMs: wholeNumber('ack-timeout', flags['ack-timeout'] ?? '60', 1, 3_600) * 1_000,
  };
}
