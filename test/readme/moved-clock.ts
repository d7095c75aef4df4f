import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A clock of a test that runs like the real one at another time. The `date` of a shell and every Node process show the same time. */
export interface MovedClock {
  /** The environment variables that give a process this clock. */
  readonly env: Readonly<Record<string, string>>;
  /** Shows `timeMs` (Unix ms) from now on. */
  set(timeMs: number): void;
  setForward(ms: number): void;
}

/** Makes a clock that shows `startMs` (Unix ms) now. Its files lie in `folder`; it is whole seconds away from the real time. */
export function movedClock(folder: string, startMs: number): MovedClock {
  let offsetSeconds = 0;
  const [bin, file, seconds] = [join(folder, 'bin'), join(folder, 'offset-ms'), join(folder, 'offset-seconds')];

  function setOffset(newOffsetSeconds: number): void {
    offsetSeconds = newOffsetSeconds;
    for (const [name, value] of Object.entries({ [file]: offsetSeconds * 1000, [seconds]: offsetSeconds })) {
      writeFileSync(`${name}.new`, String(value));
      renameSync(`${name}.new`, name);
    }
  }

  mkdirSync(bin, { recursive: true });
  const date = join(bin, 'date');
  writeFileSync(date, `#!/bin/sh\nPATH=\${PATH#*:}\nexec date -d "@$(($(date +%s) + $(cat '${seconds}')))" "$@"\n`);
  chmodSync(date, 0o755);
  const set = (timeMs: number): void => setOffset(Math.round((timeMs - Date.now()) / 1000));
  set(startMs);
  return {
    env: {
      PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
      MOVED_CLOCK_FILE: file,
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'moved-clock.mjs'))}`,
    },
    set,
    setForward: (ms) => setOffset(offsetSeconds + Math.round(ms / 1000)),
  };
}
