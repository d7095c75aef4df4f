import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { startProgram } from '../../../src/program.ts';

/** The whole program as `serve` starts it, on a free port. */
export interface RunningProgram extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly log: readonly Readonly<Record<string, unknown>>[];
}

export async function startWhole(
  env: Readonly<Record<string, string>> = {},
  prepare: (dataDir: string) => void = () => {},
): Promise<RunningProgram> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-program-'));
  prepare(dataDir);
  const log: Readonly<Record<string, unknown>>[] = [];
  const logger = pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line)) });
  const config = loadConfig({ MEMORY_LIMIT_MB: '512', PORT: '0', ...env, DATA_DIR: dataDir });
  const program = await startProgram({ config, now: Date.now, logger, onFatal: ({ message }) => expect.unreachable(message) });
  return {
    url: program.address,
    dataDir,
    log,
    [Symbol.asyncDispose]: async () => {
      await program.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
