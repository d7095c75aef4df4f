import { type EngineClient, withEngine } from '../engines/engine-client.ts';
import { inEmptyDataDir } from '../events/event-file.ts';
import { bodiesOf, readThrough } from '../events/file-chunks.ts';
import { type ComparedRow, inTurn, type Sides, spending } from './compared-answers.ts';
import type { Pair, Spent } from './paired-ratios.ts';

const BODY_BYTES = 4 * 1024 * 1024;
const POSTS_AT_ONCE = 4;

interface Taken {
  readonly sides: Sides;
  /** NDJSON. */
  readonly file: string;
  readonly memoryLimitMb: number;
  readonly turns: number;
}

/** Has both sides take in a file, each time into an empty folder: once as a file, once by posts of some mebibytes, four at a time. */
export async function compareIntake({ sides, file, memoryLimitMb, turns }: Taken): Promise<ComparedRow[]> {
  const ways = [
    { name: 'intake-file', title: 'a file', takeIn: byFile },
    { name: 'intake-posts', title: 'four posts at a time', takeIn: byPosts },
  ];
  await readThrough(file);
  const rows: ComparedRow[] = [];
  for (const { name, title, takeIn } of ways) {
    const pairs: Pair[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const spent = (host: string | undefined) => intoEmptyFolder(host, memoryLimitMb, (engine) => takeIn(engine, file));
      pairs.push(
        await inTurn(
          turn,
          () => spent(sides.before),
          () => spent(sides.after),
        ),
      );
    }
    rows.push({ name, title, pairs, differences: [] });
  }
  return rows;
}

function intoEmptyFolder(host: string | undefined, memoryLimitMb: number, takeIn: (engine: EngineClient) => Promise<void>): Promise<Spent> {
  const timed = (engine: EngineClient) => spending(engine.pid, () => takeIn(engine));
  return inEmptyDataDir('intake', (dataDir) => withEngine('shieldlog', { dataDir, memoryLimitMb }, timed, host));
}

async function byFile(engine: EngineClient, file: string): Promise<void> {
  await engine.ingest({ file, eventsPerSecond: null });
}

async function byPosts(engine: EngineClient, file: string): Promise<void> {
  const url = `${await engine.listen()}/ingest/events`;
  const bodies = bodiesOf(file, BODY_BYTES);
  const post = async (): Promise<void> => {
    for await (const body of bodies) {
      const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/x-ndjson' } });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`a post was answered with ${answer.status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: POSTS_AT_ONCE }, post));
}
