import { expect, onTestFinished, test } from 'vitest';
import { runFeed } from '../../../../src/cli/feed/feed-loop.ts';
import type { FeedState } from '../../../../src/cli/feed/feed-state.ts';
import { feedPatience } from '../../../../src/sinks/feed-retry.ts';
import { createHttpClient } from '../../../../src/sinks/http-exchange.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { idsIn } from '../../sinks/sample-events.ts';
import { feedReader } from './feed-reader.ts';

/** A feed that begins with what is to come, over a sink that accepts nothing before it is given up. */
function startFromNow(app: RunningApp) {
  const client = createHttpClient(null);
  onTestFinished(() => client.close());
  const [stop, offered, saved] = [new AbortController(), [] as string[], [] as FeedState[]];
  const ended = runFeed(
    {
      reader: feedReader(app.url, client),
      sink: {
        name: 'one that accepts nothing',
        deliver: ({ bytes }, signal) => {
          offered.push(...idsIn(bytes.toString()));
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
        close: async () => {},
      },
      stateFile: {
        path: '',
        state: { cursor: null, position: null, zones: null },
        save: async (state) => void saved.push(state),
        close: () => {},
      },
      state: { cursor: null, position: null, zones: null },
      ...{
        rejectedFile: null,
        fromNow: true,
        once: false,
        limit: 10,
        waitSeconds: 30,
        stopping: stop.signal,
        givenUp: stop.signal,
        tell: () => {},
      },
      retry: { stopping: stop.signal, random: () => 0.5, tell: () => {}, pause: async () => {} },
      patience: feedPatience(null, () => {}),
    },
    () => {},
  );
  return { offered, saved, stop: () => stop.abort(), ended };
}

test('a feed that begins with what is to come knows from where on before anything has come', async () => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  const feed = startFromNow(app);
  await eventually('the cursor is kept', () => feed.saved.length > 0);
  await ingest(app, eventLine({ logId: 'to-come' }));
  await eventually('the event is offered', () => feed.offered.length > 0);
  feed.stop();
  expect(await feed.ended).toBe('stopped');
  const kept = feed.saved.at(-1)?.cursor;
  const answer = await fetch(`${app.url}/shield/event-logs/7/feed?cursor=${kept}`);
  expect(await answer.text()).toContain('"logId":"to-come"');
});
