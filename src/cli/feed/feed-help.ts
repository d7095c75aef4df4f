import { DEFAULT_PATTERN } from '../../sinks/file-rotation.ts';
import { DEFAULT_URL } from '../server-flags.ts';

export const FEED_HELP = `Usage: shieldlog feed --zone ZONE[,ZONE…]|all --to TARGET [flags]

Passes the events of a running shieldlog on, in the order in which they came in, and goes on doing so. How far it got is kept in a
state file, after the target has accepted a batch: whatever is killed, no event is lost, and only the batch under way may arrive again.

  --to TARGET
      FILE                          appended to; with its state, every event is in it exactly once
      -                             standard output
      http://… or https://…         POST of NDJSON; any 2xx accepts a batch
      syslog+tcp://HOST:PORT        RFC 5424 messages with octet counting; syslog+tls:// with TLS
      splunk-hec+https://HOST:PORT  Splunk's HTTP event collector (splunk-hec+http:// on loopback)
  --format native|ecs|ocsf|cef
      How the events are written (default native: what 'shieldlog ingest' takes).
  --url URL
      The running program (default ${DEFAULT_URL}).
  --access-key KEY, SHIELDLOG_ACCESS_KEY
  --access-key-file FILE, SHIELDLOG_ACCESS_KEY_FILE
      A key of its ACCESS_KEYS, or a file that holds it; not needed where it has none.
  --state FILE
      Where it is kept how far it got. Default: feed-HASH.json in $XDG_STATE_HOME/shieldlog (unset: ~/.local/state/shieldlog), HASH
      being of --url, --zone, --format and --to.
  --from-now
      Where there is no state yet, begin with the events to come; without it, with the oldest there are.
  --once
      End when there is nothing more, instead of waiting for it.
  --give-up-after TIME
      End with status 1 when nothing gets further for so long, such as 30s or 15m: the program or the target is away, answers that it
      cannot, or hangs. Default: 10m with --once; without it, never.
  --limit N
      Events in a batch, 1..100000 (default 10000).
  --wait SECONDS
      How long a question for more waits for an answer, 0..30 (default 30); at most half of --give-up-after.
  --ca FILE
      PEM certificates of authorities to trust beside the usual ones, for --url and --to.
  SHIELDLOG_SINK_TOKEN, SHIELDLOG_SINK_TOKEN_FILE
      A secret for the target, or a file that holds it, from the environment only: 'Bearer' for http(s), the token for Splunk.

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

For syslog:
  --syslog-facility NAME, --syslog-severity NAME, --syslog-app-name NAME, --syslog-msgid NAME
      Of every message (defaults local0, info, shieldlog, and the format's name).

For Splunk:
  --hec-index NAME, --hec-source NAME, --hec-sourcetype NAME, --hec-host NAME
      Of every event (defaults: the token's, shieldlog, shieldlog:FORMAT, the token's).
  --ack-timeout SECONDS
      Send again what is not acknowledged by then (default 60).

SIGINT and SIGTERM finish the batch under way and end it with status 0.
Exit status: 0 done or stopped, 1 the program or the target refuses for a reason that does not pass, or the
feed was given up, 2 wrong usage.
`;
