import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * A clock of a test that goes on with the real one and can be set forward: for a shell's `date`, and for every Node process, by the same
 * time.
 */
export interface MovedClock {
  /** What processes with the moved clock have to have in their environment. */
  readonly env: Readonly<Record<string, string>>;
  setForward(ms: number): void;
}

/** Makes a clock that shows `startMs` (Unix ms) now. Its files lie in `folder`; what it shows is whole seconds away from the real time. */
export function movedClock(folder: string, startMs: number): MovedClock {
  let offsetSeconds = Math.round((startMs - Date.now()) / 1000);
  const [bin, file, seconds] = [join(folder, 'bin'), join(folder, 'offset-ms'), join(folder, 'offset-seconds')];

  function set(): void {
    for (const [name, value] of Object.entries({ [file]: offsetSeconds * 1000, [seconds]: offsetSeconds })) {
      writeFileSync(`${name}.new`, String(value));
      renameSync(`${name}.new`, name);
    }
  }

  mkdirSync(bin, { recursive: true });
  const date = join(bin, 'date');
  writeFileSync(date, `#!/bin/sh\nPATH=\${PATH#*:}\nexec date -d "@$(($(date +%s) + $(cat '${seconds}')))" "$@"\n`);
  chmodSync(date, 0o755);
  set();
  return {
    env: {
      PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
      MOVED_CLOCK_FILE: file,
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'moved-clock.mjs'))}`,
    },
    setForward: (ms) => {
      offsetSeconds += Math.round(ms / 1000);
      set();
    },
  };
}
