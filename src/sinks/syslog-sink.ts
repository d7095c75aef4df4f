import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { type SecureContext, connect as tlsConnect } from 'node:tls';
import { eventTimeMs, type FeedFormatName } from '../formats/feed-formats.ts';
import { connectionFault } from './connections.ts';
import { DeliveryError, deliveredWhole, linesOf, type Sink } from './sink.ts';

/** RFC 5424, table 1, by number. */
export const FACILITIES = [
  ...[
    'kern',
    'user',
    'mail',
    'daemon',
    'auth',
    'syslog',
    'lpr',
    'news',
    'uucp',
    'cron',
    'authpriv',
    'ftp',
    'ntp',
    'audit',
    'alert',
    'clock',
  ],
  ...['local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'],
] as const;
/** RFC 5424, table 2, by number. */
export const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;

export type Facility = (typeof FACILITIES)[number];
export type Severity = (typeof SEVERITIES)[number];

/** The header of every message. Its texts are printable ASCII without blanks. */
export interface SyslogHeader {
  readonly facility: Facility;
  readonly severity: Severity;
  readonly hostname: string;
  /** At most 48 characters. */
  readonly appName: string;
  readonly processId: string;
  /** At most 32 characters. */
  readonly messageId: string;
}

export interface SyslogSinkOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Null: Node's own authorities. */
  readonly trust: SecureContext | null;
  readonly header: SyslogHeader;
  readonly format: FeedFormatName;
  /** How long the receiver may take to accept the connection, to read on, and to close the connection at the end, in milliseconds. */
  readonly silenceMs: number;
}

/** The size of one write to the socket. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Sends batches as syslog messages, each batch over its own connection. The protocol has no acknowledgement, so the end of the connection
 * serves as one: this side ends it after the batch, and the receiver ends it too once it has read everything. A receiver that closes
 * earlier, resets, or never closes has not accepted the batch.
 */
export function syslogSink(options: SyslogSinkOptions): Sink {
  const { host, port, tls, trust, header, format, silenceMs } = options;
  const name = `syslog+${tls ? 'tls' : 'tcp'}://${host.includes(':') ? `[${host}]` : host}:${port}`;

  function connect(): Socket {
    // With half-open sockets, the receiver's end after ours is distinct from an end that comes too early.
    const base = { host, port, allowHalfOpen: true };
    if (!tls) return tcpConnect(base);
    // A separate constant, because the types of `tls.connect` lack `allowHalfOpen`, which it takes.
    const secure = { ...base, ...(isIP(host) === 0 ? { servername: host } : {}), ...(trust === null ? {} : { secureContext: trust }) };
    return tlsConnect(secure);
  }

  function framesOf(bytes: Buffer): Buffer[] {
    return Array.from(linesOf(bytes), (line) => {
      const text = line.toString('utf8');
      return syslogFrame(header, eventTimeMs(format, text), text);
    });
  }

  /** Resolves when the receiver ends the connection after this side did. */
  function send(socket: Socket, bytes: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let finished = false;
    const closedEarly = () => new Error('it was closed before the batch was through');
    socket.setTimeout(silenceMs, () => reject(new Error(`it was silent for ${silenceMs / 1_000} s`)));
    socket.on('error', reject);
    socket.once('close', () => reject(closedEarly()));
    socket.once('end', () => {
      if (finished) resolve();
      else reject(closedEarly());
    });
    socket.once('finish', () => {
      finished = true;
      // A receiver that goes on to send something is not silent, but does not close the connection either.
      socket.setTimeout(0);
      const late = setTimeout(() => {
        reject(new Error(`it never closed the connection, for ${silenceMs / 1_000} s after the batch`));
      }, silenceMs);
      socket.once('close', () => clearTimeout(late));
    });
    const begin = async (): Promise<void> => {
      for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) {
        const flushed = socket.write(bytes.subarray(offset, offset + CHUNK_BYTES));
        if (!flushed) await new Promise((drained) => socket.once('drain', drained));
      }
      socket.end();
    };
    socket.once(tls ? 'secureConnect' : 'connect', () => void begin());
    // The receiver sends nothing, but `end` is emitted only while reading.
    socket.resume();
    return promise;
  }

  return {
    name,
    async deliver({ bytes }, signal) {
      const frames = Buffer.concat(framesOf(bytes));
      signal.throwIfAborted();
      const socket = connect();
      const stop = (): void => void socket.destroy(new Error('given up'));
      signal.addEventListener('abort', stop, { once: true });
      try {
        await send(socket, frames);
        return deliveredWhole(null);
      } catch (error) {
        signal.throwIfAborted();
        throw new DeliveryError('unavailable', connectionFault(name, error as Error), { cause: error });
      } finally {
        signal.removeEventListener('abort', stop);
        socket.destroy();
      }
    },
    close: async () => {},
  };
}

/** The range of RFC 3339. */
const [MIN_MS, MAX_MS] = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/**
 * Makes one message of RFC 5424, framed by octet counting (RFC 6587, 3.4.1). It has no byte order mark, which many receivers show as
 * text. `timeMs` is Unix ms; null where the line has no time.
 */
export function syslogFrame(header: SyslogHeader, timeMs: number | null, line: string): Buffer {
  const priority = FACILITIES.indexOf(header.facility) * 8 + SEVERITIES.indexOf(header.severity);
  const time = timeMs === null || timeMs < MIN_MS || timeMs > MAX_MS ? '-' : new Date(timeMs).toISOString();
  const { hostname, appName, processId, messageId } = header;
  const message = Buffer.from(`<${priority}>1 ${time} ${hostname} ${appName} ${processId} ${messageId} - ${line}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}
