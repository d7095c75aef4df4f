import { NO_BACKGROUND_JOBS_MS } from '../../fixtures/temporary-store.ts';
import type { RawEvent } from '../../oracle/raw-event.ts';
import { type RunningApp, startApp } from '../../src/running-app.ts';
import { appendEvents, NOW_MS } from '../filled-store.ts';

// The program of `walked-program.ts` in a process of its own. Its parent sends calls, one of which may be answered before an earlier one.

/** What the parent asks for. */
export type WalkedCall =
  | { readonly kind: 'start' | 'flush' | 'compact' | 'stats' | 'stop' }
  | { readonly kind: 'append'; readonly events: readonly RawEvent[] };

export interface WalkedRequest {
  readonly id: number;
  readonly call: WalkedCall;
}

export type WalkedReply = { readonly id: number } & ({ readonly value: unknown } | { readonly error: string });

const [dataDir = ''] = process.argv.slice(2);

let app: RunningApp | undefined;

function running(): RunningApp {
  if (app === undefined) throw new Error('the program does not run');
  return app;
}

async function start(): Promise<{ readonly url: string; readonly cursor: string }> {
  app = await startApp({
    dataDir,
    now: () => NOW_MS,
    // Tests of other files keep the machine busy.
    env: { QUERY_DEADLINE_MS: '3600000' },
    storeOptions: { backgroundJobsEveryMs: NO_BACKGROUND_JOBS_MS },
    // A client that reads nothing between four of them is cut off.
    tailLimits: { heartbeatMs: 500 },
  });
  const { positions } = app.store;
  return { url: app.url, cursor: positions.encode(await positions.oldest()) };
}

async function answer(call: WalkedCall): Promise<unknown> {
  switch (call.kind) {
    case 'start':
      return await start();
    case 'append':
      return await appendEvents(running().store, call.events);
    case 'flush':
      return await running().store.settle('flush');
    case 'compact':
      return await running().store.settle('merge');
    case 'stats':
      return await running().store.stats();
    case 'stop':
      return await running().stop();
  }
}

process.on('message', ({ id, call }: WalkedRequest) => {
  answer(call).then(
    (value) => process.send?.({ id, value } satisfies WalkedReply),
    (error: Error) => process.send?.({ id, error: String(error.stack) } satisfies WalkedReply),
  );
});

// A parent that is gone wants nothing any more.
process.on('disconnect', () => process.exit());
