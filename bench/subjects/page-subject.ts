// The program whose page is measured, in a separate process. It is started with its order as JSON in the first argument, sends its report
// as one message, and serves until its parent ends.
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { startProgram } from '../../src/program.ts';
import { openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { BENCH_NOW_MS, benchOptions } from '../events/event-file.ts';
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
const now = () => BENCH_NOW_MS;
const config = loadConfig({ DATA_DIR: dataDir, MEMORY_LIMIT_MB: String(memoryLimitMb), PORT: '0' });
process.send?.(await (kind === 'fill' ? fill() : serve()));

async function fill(): Promise<FilledStore> {
  const { retentionMs } = config;
  const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs, now });
  const filled = await fillStore(store, benchOptions(events), retentionMs);
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
