import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LARGE_BODY_BYTES } from '../../../edge/operations/operation.ts';
import { DATABASE_TOKEN, KEY_OF_ALL_ZONES, startWatchedProgram, type WatchedProgram } from '../../property/raw-bytes/watched-program.ts';

/** CPU time of a turn of the main thread in milliseconds, generous for slower machines: the same bodies read there took 270 to 400. */
const MOST_MS = 250;
const AT_ONCE = 8;
const MIB = 1024 * 1024;
/** Memory of the whole program in MiB: eight bodies at both listeners, two of them parsed, and eight answers. */
const MOST_MIB = 1_600;

let program: WatchedProgram;
let zones = 0;

beforeAll(async () => {
  program = await startWatchedProgram(Date.now());
});

afterAll(() => program.stop());

const object = (keys: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, key) => [`key${key}`, 'x'.repeat(34)])));
const batch = (steps: string): string => `{"requests":[{"type":"batch","batch":{"steps":[${steps}]}},{"type":"close"}]}`;
const repeated = (text: string, bytes: number): string =>
  Array.from({ length: Math.floor(bytes / (text.length + 1)) }, () => text).join(',');

function zone(records: readonly object[]): string {
  zones += 1;
  return JSON.stringify({ Domain: `zone${zones}.example`, Records: records });
}

/** Bodies of nearly 8 MiB, and what they are answered with. */
const BODIES: readonly { readonly of: string; readonly path: string; readonly body: () => string; readonly answer: RegExp }[] = [
  {
    of: 'records with texts of two bytes',
    path: '/dnszone',
    body: () => zone(Array.from({ length: 5_000 }, (_, index) => ({ Type: 3, Name: `h${index}`, Value: 'ж'.repeat(780) }))),
    answer: /^201 \{"Records":\[\{"Id":\d+,"Type":3/,
  },
  {
    of: 'objects of empty records',
    path: '/dnszone',
    body: () => `{"Domain":"a.example","Records":[${repeated('{}', 8 * MIB - 100)}]}`,
    answer: /^400 .*"Field":"body".*more than 200000 values/,
  },
  {
    of: 'steps with a thousand keys each',
    path: '/v2/pipeline',
    body: () => batch(repeated(object(1_000), 8 * MIB - 100)),
    answer: /^200 .*requests\[0\]\.batch\.steps\[0\]\.stmt is/,
  },
  {
    of: 'empty steps',
    path: '/v2/pipeline',
    body: () => batch(repeated('{}', 8 * MIB - 100)),
    answer: /^400 .*more than 200000 values/,
  },
  {
    of: 'an argument of two-byte characters',
    path: '/v2/pipeline',
    body: () => {
      const args = [{ type: 'text', value: 'ж'.repeat(4 * MIB - 200) }];
      return JSON.stringify({ requests: [{ type: 'execute', stmt: { sql: 'SELECT length(?)', args } }, { type: 'close' }] });
    },
    answer: /^200 .*"value":"4194104"/,
  },
  {
    of: 'such an argument for a cursor',
    path: '/v3/cursor',
    body: () => {
      const args = [{ type: 'text', value: 'ж'.repeat(4 * MIB - 200) }];
      return JSON.stringify({ batch: { steps: [{ stmt: { sql: 'SELECT length(?)', args } }] } });
    },
    answer: /^200 [\s\S]*"value":"4194104"/,
  },
];

async function answerTo(path: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', accesskey: KEY_OF_ALL_ZONES, authorization: `Bearer ${DATABASE_TOKEN}` };
  const answer = await fetch(`http://127.0.0.1:${program.port}${path}`, { method: 'POST', headers, body });
  return `${answer.status} ${(await answer.text()).slice(0, 2_000)}`;
}

/** The most memory that the program has had. */
function peakBytes(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Asks until `done`; the statuses that came. */
async function healthUntil(done: AbortSignal): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  while (!done.aborted) {
    statuses.add((await fetch(`http://127.0.0.1:${program.port}/healthz`)).status);
    await wait(20);
  }
  return statuses;
}

describe('eight bodies of 8 MiB at once', () => {
  test.each(BODIES)('of $of are answered, and hold the main thread for short turns only', async ({ path, body, answer }) => {
    const bodies = Array.from({ length: AT_ONCE }, body);
    for (const each of bodies) {
      expect(Buffer.byteLength(each)).toBeGreaterThan(7.4 * MIB);
      expect(Buffer.byteLength(each)).toBeLessThanOrEqual(LARGE_BODY_BYTES);
    }
    await program.longestTurnMs();
    const done = new AbortController();
    const health = healthUntil(done.signal);
    const answers = await Promise.all(bodies.map((each) => answerTo(path, each)));
    done.abort();
    for (const each of answers) expect(each).toMatch(answer);
    expect(await program.longestTurnMs()).toBeLessThan(MOST_MS);
    expect([...(await health)]).toEqual([200]);
    expect(program.defects()).toEqual([]);
  });

  // After the others, which have sent each kind of them.
  test('have taken no more memory than they and their answers need', () => {
    expect(peakBytes() / MIB).toBeLessThan(MOST_MIB);
  });
});
