// Runs one engine in a separate process, so that its memory is measured apart from the harness and a cold start is really cold.
// engine-client.ts starts it with the engine's name and options as JSON in the first argument. It may answer several calls at once.

import type { Engine, EngineOptions, EventSource, HostedName } from './engine.ts';
import type { HostCall, HostReply, SearchOrder, TimedIngest, TimedSearch } from './engine-client.ts';
import { type TimedAnswer, timeExplore, timeSearch } from './timed-searches.ts';

const { name, ...options } = JSON.parse(process.argv[2] ?? '{}') as EngineOptions & { readonly name: HostedName };

/** Loads only the engine of the order, so that it runs without the packages and the memory of the other. */
async function openEngine(): Promise<Engine> {
  switch (name) {
    case 'shieldlog':
      return await (await import('./shieldlog.ts')).openShieldlog(options);
    case 'clickhouse':
      return await (await import('./clickhouse.ts')).openClickhouse(options);
    case 'floor':
      return await (await import('./floor.ts')).openFloor(options);
    default:
      return name satisfies never;
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const engine = await openEngine();

async function ingest(source: EventSource): Promise<TimedIngest> {
  const before = process.cpuUsage();
  const elapsedMs = await timed(() => engine.ingest(source));
  const { user, system } = process.cpuUsage(before);
  return { elapsedMs, cpuMs: (user + system) / 1000 };
}

function sent({ withAnswer }: SearchOrder, { elapsedMs, answer }: TimedAnswer): TimedSearch {
  return withAnswer ? { elapsedMs, answer } : { elapsedMs };
}

async function answer(call: HostCall): Promise<unknown> {
  switch (call.kind) {
    case 'version':
      return engine.version;
    case 'ingest':
      return await ingest(call.order as EventSource);
    case 'settle':
      return await timed(() => engine.settle());
    case 'search':
      return sent(call.order as SearchOrder, await timeSearch(engine, call.order as SearchOrder));
    case 'explore':
      return sent(call.order as SearchOrder, await timeExplore(engine, call.order as SearchOrder));
    case 'diskBytes':
      return await engine.diskBytes();
    case 'peakMemoryBytes':
      return process.resourceUsage().maxRSS * 1024;
    case 'listen':
      return await engine.listen();
    case 'close':
      await engine.close();
      return null;
    default:
      return call.kind satisfies never;
  }
}

const send = (reply: HostReply) => process.send?.(reply);

process.on('message', (message) => {
  const call = message as HostCall;
  answer(call)
    .then(
      (value) => send({ id: call.id, value }),
      (error: Error) => send({ id: call.id, error: error.stack ?? error.message }),
    )
    .finally(() => {
      if (call.kind === 'close') {
        process.disconnect();
      }
    });
});
send({ id: 0, value: null });
