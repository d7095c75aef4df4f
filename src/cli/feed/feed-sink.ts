import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { SecureContext } from 'node:tls';
import { openFileSink } from '../../sinks/file-sink.ts';
import { hecSink } from '../../sinks/hec-sink.ts';
import { createHttpClient } from '../../sinks/http-exchange.ts';
import { httpSink } from '../../sinks/http-sink.ts';
import type { RecordPosition, Sink, SinkPosition } from '../../sinks/sink.ts';
import { stdoutSink } from '../../sinks/stdout-sink.ts';
import { syslogSink } from '../../sinks/syslog-sink.ts';
import type { FeedOptions } from './feed-options.ts';

export interface SinkParts {
  readonly trust: SecureContext | null;
  readonly stdout: NodeJS.WritableStream;
  readonly position: SinkPosition;
  readonly record: RecordPosition;
  readonly now: () => number;
  readonly tell: (message: string) => void;
}

export const SYSLOG_SILENCE_MS = 30_000;
const ACK_POLL_MS = 1_000;

/** What a syslog header takes of this machine's name. */
function syslogHostname(): string {
  return (
    hostname()
      .replace(/[^\x21-\x7e]/g, '')
      .slice(0, 255) || '-'
  );
}

/** The sink that `--to` names. Throws DeliveryError where it cannot be used. */
export async function openFeedSink(options: FeedOptions, parts: SinkParts): Promise<Sink> {
  const { target, format, rotation, gzip, sinkToken: token, syslog, hec: fields, ackDeadlineMs } = options;
  const { trust, stdout, position, record, now, tell } = parts;
  switch (target.kind) {
    case 'stdout':
      return stdoutSink(stdout);
    case 'file':
      return openFileSink({ path: target.path, rotation, position, record, now, tell });
    case 'http':
      return httpSink({ url: target.url, token, gzip, client: createHttpClient(trust), now });
    case 'syslog': {
      const { host, port, tls } = target;
      const header = { ...syslog, hostname: syslogHostname(), processId: String(process.pid) };
      return syslogSink({ host, port, tls, trust, header, format, silenceMs: SYSLOG_SILENCE_MS });
    }
    case 'hec': {
      const client = createHttpClient(trust);
      const channel = randomUUID();
      return hecSink({ url: target.url, token, fields, format, gzip, channel, ackDeadlineMs, ackPollMs: ACK_POLL_MS, client, now, tell });
    }
  }
}
