import { DeliveryError } from './delivery-error.ts';
import type { Sink } from './sink.ts';

/** A reader that has stopped reading must not hold the process for ever. */
async function abortable(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Writes batches to a stream of this process; accepted once the stream has handed all of it to the system. */
export function stdoutSink(stdout: NodeJS.WritableStream): Sink {
  let broken: Error | null = null;
  // A pipe whose reader has gone says so here as well as in the callback; unheard, it would end the process.
  const onError = (error: Error): void => {
    broken = error;
  };
  stdout.on('error', onError);
  return {
    name: 'standard output',
    async deliver({ bytes }, signal) {
      const written = new Promise<void>((resolve, reject) => {
        if (broken !== null) reject(broken);
        else stdout.write(bytes, (error) => (error instanceof Error ? reject(error) : resolve()));
      });
      try {
        await abortable(written, signal);
      } catch (error) {
        signal.throwIfAborted();
        const code = (error as NodeJS.ErrnoException).code === 'EPIPE' ? 'closed' : 'refused';
        throw new DeliveryError(code, `standard output cannot be written: ${(error as Error).message}`, { cause: error });
      }
      return null;
    },
    close: async () => {},
  };
}
