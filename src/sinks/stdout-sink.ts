import { abortable } from '../../work/abortable.ts';
import { DeliveryError, deliveredWhole, type Sink } from './sink.ts';

/** Writes batches to a stream of this process. A batch is accepted once the operating system has all of it. */
export function stdoutSink(stdout: NodeJS.WritableStream): Sink {
  let broken: Error | null = null;
  // A pipe without a reader emits `error` besides calling back, and an unhandled `error` would end the process.
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
      return deliveredWhole(null);
    },
    close: async () => {},
  };
}
