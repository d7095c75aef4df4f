import { SingleBar } from 'cli-progress';

export interface Progress {
  /** Says what begins now. */
  readonly step: (what: string) => void;
  stop(): void;
}

/** What the harness is doing, and for how long: one line that changes on a terminal, a line each elsewhere. On stderr. */
export function startProgress(steps: number): Progress {
  if (!process.stderr.isTTY) {
    return { step: (what) => process.stderr.write(`${what}\n`), stop: () => undefined };
  }
  const bar = new SingleBar({
    format: '{duration_formatted} [{bar}] {value}/{total} {what}',
    stream: process.stderr,
    clearOnComplete: true,
  });
  bar.start(steps, 0, { what: '' });
  return {
    step: (what) => bar.increment(1, { what }),
    stop: () => bar.stop(),
  };
}
