import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openState } from '../../../edge/local/control-plane-state.ts';
import { seededRandom } from '../../../ingest/demo/seeded-random.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { runSeed } from '../../random/run-seed.ts';
import { addressOf, killAll, startCli } from '../../src/cli/cli-process.ts';
import { EXAMPLE_REQUESTS, send } from '../example-requests.ts';
import { STATE_WRITERS, type StateWriter } from './state-writers.ts';

let dataDir: string;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-killed-'));
});
afterAll(async () => {
  await killAll();
  rmSync(dataDir, { recursive: true, force: true });
});

const serve = () => startCli(['serve', '--data-dir', dataDir, '--port', '0']);

/** The work of a writer so far, over all rounds. */
interface Progress {
  readonly writer: StateWriter;
  /** The next change. */
  next: number;
  /** Changes whose every call was answered well. */
  readonly acknowledged: Set<number>;
  refusal: string | null;
}

async function writeUntilKilled(url: string, progress: Progress): Promise<void> {
  for (;;) {
    const n = progress.next;
    progress.next += 1;
    for (const { method, path, body } of progress.writer.calls(n)) {
      let status: number;
      let text: string;
      try {
        const answer = await send(url, { number: 0, method, path, body });
        [status, text] = [answer.status, await answer.text()];
      } catch {
        // Killed: whether this change was made nobody knows.
        return;
      }
      if (status >= 300) {
        progress.refusal = `${method} ${path}: ${status} ${text}`;
        return;
      }
    }
    progress.acknowledged.add(n);
  }
}

const random = seededRandom(runSeed());

async function round(all: readonly Progress[]): Promise<void> {
  const program = serve();
  const url = await addressOf(program);
  const before = all.map(({ acknowledged }) => acknowledged.size);
  const targets = before.map((count) => count + 1 + random.below(8));
  const writing = all.map((progress) => writeUntilKilled(url, progress));
  for (const [index, progress] of all.entries()) {
    await eventually(`${progress.writer.resource} has written some`, () => {
      if (progress.refusal !== null) throw new Error(progress.refusal);
      return progress.acknowledged.size >= (targets[index] ?? 0);
    });
  }
  program.child.kill('SIGKILL');
  await Promise.all([...writing, program.ended]);
}

function expectKept({ writer, acknowledged, next }: Progress): void {
  const db = openState(dataDir);
  try {
    const kept = writer.kept(db);
    const last = Math.max(...acknowledged);
    const told = `${writer.resource}: kept ${kept.slice(-3)} (${kept.length}) of ${next}, the last acknowledged is ${last}`;
    // The one that was under way when the program was killed, if any, may be there too.
    if (writer.keeps === 'counted') expect(kept.length >= acknowledged.size && kept.length <= next, told).toBe(true);
    else if (writer.keeps === 'last')
      expect(kept.length === 1 && kept.every((n) => n >= Math.max(...acknowledged) && n < next), told).toBe(true);
    else {
      expect(
        [...acknowledged].filter((n) => !kept.includes(n)),
        told,
      ).toEqual([]);
      expect(
        kept.every((n) => n < next),
        told,
      ).toBe(true);
    }
  } finally {
    db.close();
  }
}

test('a program that is killed while it writes keeps every change it had answered, and half of none', async () => {
  const first = serve();
  await addressOf(first);
  first.child.kill('SIGKILL');
  await first.ended;
  const db = openState(dataDir);
  for (const writer of STATE_WRITERS) writer.prepare?.(db);
  db.close();
  const all: readonly Progress[] = STATE_WRITERS.map((writer) => ({ writer, next: 0, acknowledged: new Set(), refusal: null }));
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await round(all);
    for (const progress of all) expectKept(progress);
  }
});

test('and serves every operation again afterwards', async () => {
  const program = serve();
  const url = await addressOf(program);
  for (const example of EXAMPLE_REQUESTS) expect((await send(url, example)).status, `operation ${example.number}`).toBeLessThan(500);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});
