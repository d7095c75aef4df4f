import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { type SecureContext, connect as tlsConnect } from 'node:tls';
import type { FeedFormatName } from '../formats/feed-format.ts';
import { connectionFault } from './connection-fault.ts';
import { DeliveryError } from './delivery-error.ts';
import { eventTimeMs } from './event-time.ts';
import { linesOf } from './line-chunks.ts';
import type { Sink } from './sink.ts';
import { type SyslogHeader, syslogFrame } from './syslog-message.ts';

export interface SyslogSinkOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Null: the authorities that Node trusts by itself. */
  readonly trust: SecureContext | null;
  readonly header: SyslogHeader;
  readonly format: FeedFormatName;
  /** How long the receiver may take to be connected to, to take the next bytes, and to close the connection in the end; milliseconds. */
  readonly silenceMs: number;
}

/** What is handed to the socket at a time. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Sends batches as syslog messages, each batch over a connection of its own. The protocol has no acknowledgement. The nearest thing to one:
 * this side ends the connection after the batch, and the receiver, having read up to that end, ends it too. A receiver that closes earlier,
 * resets, or does not close at all has not accepted the batch.
 */
export function syslogSink(options: SyslogSinkOptions): Sink {
  const { host, port, tls, trust, header, format, silenceMs } = options;
  const name = `syslog+${tls ? 'tls' : 'tcp'}://${host.includes(':') ? `[${host}]` : host}:${port}`;

  function connect(): Socket {
    // Half open, because the receiver's end is told from its answer to ours only where the two are separate.
    const base = { host, port, allowHalfOpen: true };
    if (!tls) return tcpConnect(base);
    // A constant of its own, because the types do not know that `tls.connect` takes `allowHalfOpen`.
    const secure = { ...base, ...(isIP(host) === 0 ? { servername: host } : {}), ...(trust === null ? {} : { secureContext: trust }) };
    return tlsConnect(secure);
  }

  function framesOf(bytes: Buffer): Buffer[] {
    return Array.from(linesOf(bytes), (line) => {
      const text = line.toString('utf8');
      return syslogFrame(header, eventTimeMs(format, text), text);
    });
  }

  /** Resolves when the receiver has ended the connection after this side did. */
  function send(socket: Socket, bytes: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let finished = false;
    socket.setTimeout(silenceMs, () =>
      reject(new Error(`it was silent for ${silenceMs / 1_000} s, or never closed the connection after the batch`)),
    );
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('it was closed before the batch was through')));
    socket.once('end', () => {
      if (finished) resolve();
      else reject(new Error('it was closed before the batch was through'));
    });
    socket.once('finish', () => {
      finished = true;
    });
    const begin = async (): Promise<void> => {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
        const flushed = socket.write(bytes.subarray(at, at + CHUNK_BYTES));
        if (!flushed) await new Promise((drained) => socket.once('drain', drained));
      }
      socket.end();
    };
    socket.once(tls ? 'secureConnect' : 'connect', () => void begin());
    // Nothing is expected to come, but an end is seen only by those who read.
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
        return null;
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
