import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate, openState } from '../../../edge/local/control-plane-state.ts';
import { TOKEN_TABLES } from '../../../edge/local/database/access-tokens.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { clockAhead } from '../../fixtures/moved-clock.ts';
import { programEnv } from '../../fixtures/program-env.ts';
import { DefectLog } from './defect-log.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const WATCH = fileURLToPath(new URL('./main-thread-watch.ts', import.meta.url));

/** Opens zone 1 alone. */
export const KEY_OF_ZONE_1 = 'key-of-zone-one-alone';
export const KEY_OF_ALL_ZONES = 'key-of-all-the-zones';
/** Full Access to its database. It is not made by chance, as the requests that a property failed for are kept with it. */
export const DATABASE_TOKEN = 'sldb_full_token-of-the-watched-program';

/** The real program in a process of its own, with a watch on its main thread. */
export interface WatchedProgram {
  readonly pid: number;
  readonly port: number;
  /**
   * The longest turn of its event loop since this was asked last, in milliseconds of CPU time. Throws where the program does not answer or
   * has ended.
   */
  longestTurnMs(): Promise<number>;
  /** Lines of its log that tell of a defect, and what it wrote that is no log; each is told once. */
  defects(): readonly string[];
  stop(): Promise<void>;
}

function addDatabaseToken(dataDir: string): void {
  const state = openState(dataDir);
  migrate(state, TOKEN_TABLES);
  const hash = createHash('sha256').update(DATABASE_TOKEN).digest('hex');
  state.prepare("INSERT INTO tokens (hash, kind, created) VALUES (?, 'full-access', 0)").run(hash);
  state.close();
}

function end(child: ChildProcess): string | null {
  return child.exitCode === null && child.signalCode === null ? null : `the program has ended with ${child.exitCode ?? child.signalCode}`;
}

/** Starts it at a time of its own, `nowMs`. */
export async function startWatchedProgram(nowMs: number): Promise<WatchedProgram> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-raw-bytes-'));
  const env = {
    ...programEnv(),
    ...clockAhead(nowMs - Date.now()),
    PORT: '0',
    DATA_DIR: dataDir,
    MEMORY_LIMIT_MB: '256',
    ACCESS_KEYS: `one:${KEY_OF_ZONE_1}:1,all:${KEY_OF_ALL_ZONES}:*:personal+database`,
  };
  const child = spawn(process.execPath, ['--import', WATCH, MAIN, 'serve'], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const log = new DefectLog();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => log.add(text));
  await eventually('the program listens', () => {
    if (end(child) !== null) throw new Error(`${end(child)}: ${log.takeAll().join('\n')}`);
    return log.address !== undefined;
  });
  const longestTurnMs = async (): Promise<number> => {
    if (end(child) !== null) throw new Error(`${end(child)}: ${log.takeAll().join('\n')}`);
    const answered = once(child, 'message', { signal: AbortSignal.timeout(60_000) });
    child.send('how long?');
    const [{ longestTurnMs: longest }] = (await answered) as [{ readonly longestTurnMs: number }];
    return longest;
  };
  const stop = async (): Promise<void> => {
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    if (end(child) === null) await ended;
    rmSync(dataDir, { recursive: true, force: true });
  };
  addDatabaseToken(dataDir);
  const port = Number(new URL(log.address ?? '').port);
  return { pid: child.pid ?? 0, port, longestTurnMs, defects: () => log.take(), stop };
}
