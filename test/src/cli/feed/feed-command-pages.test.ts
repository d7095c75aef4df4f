import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runFeed } from '../../../../src/cli/feed/feed-loop.ts';
import type { FeedState } from '../../../../src/cli/feed/feed-state.ts';
import { feedPatience } from '../../../../src/sinks/feed-retry.ts';
import { createHttpClient } from '../../../../src/sinks/http-exchange.ts';
import { deliveredWhole } from '../../../../src/sinks/sink.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { expectedIds, idsIn } from '../../sinks/sample-events.ts';
import { feedReader } from './feed-reader.ts';

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

const NEVER = new AbortController().signal;

/** Runs the loop to its end over pages of at most so many bytes; the sizes of the batches and what was told. */
async function readAll(maxAnswerBytes: number, limit: number) {
  const client = createHttpClient(null);
  const [batches, told, saved] = [[] as string[][], [] as string[], [] as FeedState[]];
  const tell = (message: string): void => void told.push(message);
  const ended = runFeed(
    {
      reader: feedReader(app.url, client, maxAnswerBytes),
      sink: {
        name: 'a list',
        deliver: async ({ bytes }) => {
          batches.push(idsIn(bytes.toString()));
          return deliveredWhole(null);
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
      ...{ rejectedFile: null, fromNow: false, once: true, limit, waitSeconds: 0, stopping: NEVER, givenUp: NEVER, tell },
      retry: { stopping: NEVER, random: () => 0.5, tell, pause: async () => {} },
      patience: feedPatience(null, () => {}),
    },
    () => {},
  );
  const outcome = await ended.catch((error: unknown) => error);
  client.close();
  return { outcome, batches, told, saved };
}

describe('a page that is too long to be held', () => {
  test('is read in halves, and so are those behind it', async () => {
    await ingest(
      app,
      expectedIds(40)
        .map((logId) => eventLine({ logId }))
        .join(''),
    );
    const line = (await (await fetch(`${app.url}/shield/event-logs/7/feed?limit=1`)).text()).indexOf('\n') + 1;
    const { outcome, batches, told, saved } = await readAll(line * 12, 40);
    expect([outcome, batches.flat()]).toEqual(['done', expectedIds(40)]);
    expect(batches.map((batch) => batch.length)).toEqual([10, 10, 10, 10]);
    expect(told).toEqual([
      expect.stringContaining('going on with 20 events at a time'),
      expect.stringContaining('going on with 10 events at a time'),
    ]);
    expect(saved).toHaveLength(4);
  });

  test('with a single event ends it, and says so', async () => {
    await ingest(app, eventLine());
    expect((await readAll(10, 4)).outcome).toMatchObject({
      code: 'oversized',
      message: expect.stringContaining('/feed is longer than 10 bytes'),
    });
  });
});
