import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { runFeed } from '../../../../src/cli/feed/feed-loop.ts';
import type { FeedState } from '../../../../src/cli/feed/feed-state.ts';
import { feedPatience } from '../../../../src/sinks/feed-retry.ts';
import { createHttpClient } from '../../../../src/sinks/http-exchange.ts';
import { httpSink } from '../../../../src/sinks/http-sink.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { type HttpListener, httpListener, type Reaction, type Received } from '../../sinks/http-listener.ts';
import { expectedIds, idsIn } from '../../sinks/sample-events.ts';
import { runHere } from '../command-run.ts';
import { feedReader } from './feed-reader.ts';

const HOUR_MS = 3_600_000;

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp();
  const lines = expectedIds(5).map((logId, index) => eventLine({ logId, timestamp: Date.now() - HOUR_MS * (index + 1) }));
  expect((await ingest(app, lines.join(''))).body.accepted).toBe(5);
});

afterEach(() => app.stop());

const feedOnce = (to: string, ...args: string[]) =>
  runHere(['feed', '--url', app.url, '--zone', '7', '--once', '--state', join(folder, 'state'), '--to', to, ...args]);

async function listen(react: (request: Received, number: number) => Reaction): Promise<HttpListener> {
  let number = 0;
  const listener = await httpListener((request) => {
    number += 1;
    return react(request, number);
  });
  onTestFinished(() => listener.stop());
  return listener;
}

const rejectedFile = (): string => join(folder, 'rejected.ndjson');
const rejectedIds = (): string[] => idsIn(readFileSync(rejectedFile(), 'utf8'));

/** The answer of a shieldlog that rejects these events of a request. */
function rejecting({ body }: Received, ids: readonly string[]): Reaction {
  const sent = idsIn(body);
  const rejected = sent.flatMap((id, index) => (ids.includes(id) ? [{ index, line: index + 1, reason: `${id} is wrong` }] : []));
  const counts = { accepted: sent.length - rejected.length, duplicates: 0, expired: 0, repaired: 0, rejectedCount: rejected.length };
  return { status: 202, body: JSON.stringify({ ...counts, rejected }) };
}

describe('to another shieldlog, shieldlog feed', () => {
  async function receiver(retentionHours = '72'): Promise<RunningApp> {
    const other = await startApp({ env: { RETENTION_HOURS: retentionHours } });
    onTestFinished(() => other.stop());
    return other;
  }

  const idsAt = async (other: RunningApp): Promise<string[]> => {
    const { text } = await ask(other, '/shield/event-logs/7/feed');
    return idsIn(text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1));
  };

  test('delivers, and delivers duplicates', async () => {
    const other = await receiver();
    for (const state of ['a', 'b']) {
      const { status, stderr } = await feedOnce(`${other.url}/ingest/events`, '--state', join(folder, state));
      expect([status, stderr]).toEqual([0, expect.stringMatching(/^shieldlog feed: 5 events delivered to \S+; state: \S+\n$/)]);
    }
    expect(await idsAt(other)).toEqual(expectedIds(5));
  });

  test('ends with status 1 where it rejects all, with their number and the first reason, and keeps its cursor', async () => {
    const other = await receiver();
    const to = `${other.url}/ingest/events`;
    const { status, stderr } = await feedOnce(to, '--format', 'ecs');
    expect(status).toBe(1);
    expect(stderr).toMatch(/answered 202 and refused 5 of 5 events, first: .*shieldZoneId.*; .*--rejected FILE\n$/);
    expect(stderr).toContain('0 events delivered to');
    expect(await feedOnce(to)).toMatchObject({ status: 0, stderr: expect.stringContaining('5 events delivered to') });
  });

  test('appends to --rejected what it rejects, and ends with status 0', async () => {
    const other = await receiver();
    const { status, stderr } = await feedOnce(
      `${other.url}/ingest/events`,
      '--format',
      'ecs',
      '--rejected',
      rejectedFile(),
      '--limit',
      '2',
    );
    expect(status).toBe(0);
    expect(stderr).toMatch(/2 events were refused and are in \S+rejected.ndjson, the first because of: .*shieldZoneId/);
    expect(stderr).toMatch(/0 events delivered to \S+; 5 rejected events are in \S+rejected.ndjson; state: /);
    const documents = readFileSync(rejectedFile(), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(documents.map(({ event }) => JSON.parse(event.original).logId)).toEqual(expectedIds(5));
  });

  test('counts what is past its retention as delivered, and tells of it', async () => {
    const other = await receiver('3');
    const { status, stderr } = await feedOnce(`${other.url}/ingest/events`, '--limit', '4');
    expect(status).toBe(0);
    expect(stderr).toMatch(/does not keep all events: \d of a batch are past its retention\n/);
    expect(stderr).toMatch(/5 events delivered to \S+, of which 3 were past its retention and are not kept; state: /);
    expect(await idsAt(other)).toEqual(['e0', 'e1']);
  });
});

describe('shieldlog feed', () => {
  test('has what is refused in the file, each once, and delivers the others in order', async () => {
    const listener = await listen((request) => rejecting(request, ['e1', 'e2', 'e4']));
    const { status, stderr } = await feedOnce(listener.url.href, '--rejected', rejectedFile(), '--limit', '3');
    expect([status, rejectedIds()]).toEqual([0, ['e1', 'e2', 'e4']]);
    expect(stderr).toContain('2 events delivered to');
    expect(stderr).toContain('; 3 rejected events are in');
  });

  test('appends nothing twice where a later request of the batch fails, and the batch is sent again', async () => {
    let taken = 0;
    const listener = await listen((request) => {
      if (idsIn(request.body).length > 2) return { status: 413 };
      taken += 1;
      return taken === 2 ? { status: 503 } : rejecting(request, ['e1', 'e4']);
    });
    const { status, stderr } = await feedOnce(listener.url.href, '--rejected', rejectedFile());
    expect([status, rejectedIds()]).toEqual([0, ['e1', 'e4']]);
    expect(listener.received.filter(({ body }) => idsIn(body).includes('e1')).length).toBeGreaterThan(2);
    expect(stderr).toContain('3 events delivered to');
  });

  test('ends with status 1 where not each refused event is named, in spite of --rejected', async () => {
    const listener = await listen(() => ({ status: 200, body: '{"failed":2}' }));
    const { status, stderr } = await feedOnce(listener.url.href, '--rejected', rejectedFile());
    expect([status, stderr]).toEqual([1, expect.stringContaining('refused some of 5 events, first: "failed"')]);
    expect([rejectedIds(), existsSync(join(folder, 'state'))]).toEqual([[], false]);
    const any = await feedOnce(listener.url.href, '--accept-any');
    expect([any.status, any.stderr]).toEqual([0, expect.stringContaining('5 events delivered')]);
  });

  test('ends with status 1 before anything is delivered where the file of --rejected cannot be written', async () => {
    const listener = await listen(() => ({ status: 200 }));
    const { status, stderr } = await feedOnce(listener.url.href, '--rejected', join(folder, 'nowhere', 'file'));
    expect([status, stderr, listener.received]).toEqual([1, expect.stringContaining('cannot be opened'), []]);
  });

  test('that ends between the file and the cursor has the events twice there, and loses none', async () => {
    const listener = await listen((request) => rejecting(request, ['e1']));
    const client = createHttpClient(null);
    const sink = httpSink({ url: listener.url, token: null, gzip: false, client, now: Date.now, acceptAny: false, setsAside: true });
    onTestFinished(() => sink.close());
    const signal = new AbortController().signal;
    const saved: FeedState[] = [];
    const crash = new Error('the process ends here');
    const run = (saves: boolean) => {
      const state = { cursor: null, position: null, zones: null };
      const save = async (next: FeedState): Promise<void> => {
        if (!saves) throw crash;
        saved.push(next);
      };
      return runFeed(
        {
          reader: feedReader(app.url, client),
          sink,
          stateFile: { path: '', state, save, close: () => {} },
          state,
          ...{ rejectedFile: rejectedFile(), fromNow: false, once: true, limit: 10, waitSeconds: 0, stopping: signal, givenUp: signal },
          tell: () => {},
          retry: { stopping: signal, random: () => 0.5, tell: () => {}, pause: async () => {} },
          patience: feedPatience(null, () => {}),
        },
        () => {},
      );
    };
    await expect(run(false)).rejects.toBe(crash);
    expect(rejectedIds()).toEqual(['e1']);
    expect(await run(true)).toBe('done');
    expect([rejectedIds(), saved.length]).toEqual([['e1', 'e1'], 1]);
  });
});
