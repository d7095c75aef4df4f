import type { Socket } from 'node:net';

type Written = (error?: Error | null) => void;

/** What a write meets where the other side has closed; other errors, such as those of TLS, are about this side's own reading too. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Has a socket that cannot be written any more be read to its end before it fails with that. Node closes a socket at the first write that
 * fails, and with it goes what the other side said before it closed: the answer of one that does not take the whole request.
 */
export function keepReading<Connection extends Socket>(socket: Connection): Connection {
  const afterReading =
    (done: Written): Written =>
    (error) => {
      const code = (error as NodeJS.ErrnoException | null | undefined)?.code;
      if (!CLOSED.has(code) || socket.readableEnded || socket.destroyed) {
        done(error);
        return;
      }
      // A connection that was reset has an end too, behind what came before.
      socket.once('end', () => done(error));
    };
  const write = socket._write.bind(socket);
  const writeMany = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, afterReading(done));
  if (writeMany !== undefined) socket._writev = (chunks, done) => writeMany(chunks, afterReading(done));
  return socket;
}
