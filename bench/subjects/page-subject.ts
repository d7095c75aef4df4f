// The program whose page is measured, in a separate process. It is started with its order as JSON in the first argument, sends its report
// as one message, and serves until its parent ends.
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { startProgram } from '../../src/program.ts';
import { openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { benchOptions } from '../events/event-file.ts';
import { type FilledStore, fillStore } from './fill-store.ts';

export interface PageOrder {
  /** Fill an empty folder with events and merge them, or serve a folder that was filled. */
  readonly kind: 'fill' | 'serve';
  readonly dataDir: string;
  readonly events: number;
  readonly memoryLimitMb: number;
}

export interface PageServed {
  /** Without a slash at its end. */
  readonly url: string;
}

const { kind, dataDir, events, memoryLimitMb } = JSON.parse(process.argv[2] ?? '{}') as PageOrder;
/** The real one: the page takes the present from the answers of the program, which have the time of its machine. */
const now = Date.now;
const config = loadConfig({ DATA_DIR: dataDir, MEMORY_LIMIT_MB: String(memoryLimitMb), PORT: '0' });
process.send?.(await (kind === 'fill' ? fill() : serve()));

async function fill(): Promise<FilledStore> {
  const { retentionMs } = config;
  const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs, now });
  const filled = await fillStore(store, { ...benchOptions(events), nowMs: now() }, retentionMs);
  await store.close();
  return filled;
}

async function serve(): Promise<PageServed> {
  const onFatal = (error: Error): never => {
    throw error;
  };
  const program = await startProgram({ config, now, logger: pino({ level: 'silent' }), onFatal });
  process.once('disconnect', () => void program.stop());
  return { url: program.address };
}
