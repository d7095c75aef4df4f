import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually } from '../fixtures/eventually.ts';
import { zstdFrame } from '../fixtures/zstd-frame.ts';
import type { Measured } from './bounded-case.ts';
import { askAs } from './clients.ts';
import { keyOf, MeasuredProgram } from './measured-program.ts';

/** Requests at the same time whose ends do not come: what each sends, of which the program may hold what limits.md says. */
export interface UnfinishedBodies {
  readonly count: number;
  readonly path: string;
  readonly type: string;
  readonly encoding?: string;
  readonly sent: () => Promise<Uint8Array> | Uint8Array;
}

const MIB = 1024 * 1024;
const event = (rest: object): string => JSON.stringify({ shieldZoneId: 1, timestamp: Date.now(), ...rest });
const LINES = { path: '/ingest/events', type: 'application/x-ndjson' };
const SEARCH = { path: '/shield/event-logs/1/search', type: 'application/json' };

export const UNFINISHED_BODIES = {
  'search bodies of 1 MiB': { ...SEARCH, count: 3_000, sent: () => Buffer.alloc(MIB - 1, ' ') },
  'lines of 1 MiB': { ...LINES, count: 1_000, sent: () => Buffer.from(event({ ua: 'x'.repeat(MIB - 100) })).subarray(0, -1) },
  'objects of 1 MiB over lines': {
    ...LINES,
    type: 'application/json',
    count: 300,
    sent: () => Buffer.from(`{\n"log":"${'x'.repeat(MIB)}\n`),
  },
  'decoders of gzip': { ...LINES, encoding: 'gzip', count: 3_000, sent: () => gzipSync(`${event({})}\n`).subarray(0, -8) },
  'zstd windows of 8 MiB': { ...LINES, encoding: 'zstd', count: 60, sent: () => zstdFrame(`${event({})}\n`.repeat(200_000), 23) },
  'zstd windows of 128 MiB': { ...LINES, encoding: 'zstd', count: 60, sent: () => zstdFrame(`${event({})}\n`.repeat(2_000_000), 27) },
  'rejected events': { ...LINES, count: 200, sent: () => Buffer.from('x\n'.repeat(9_000)) },
} as const satisfies Readonly<Record<string, UnfinishedBodies>>;

/** Longer than all bodies, so that none of them ends. */
const CONTENT_LENGTH = { json: MIB, other: 1_024 * MIB };

/** Begins so many bodies of one caller in a program of its own, has another caller ask beside them, and measures what that takes. */
export async function measureUnfinished({ count, path, type, encoding, sent }: UnfinishedBodies): Promise<Measured> {
  const body = await sent();
  const program = await MeasuredProgram.start({ keys: 2, deadlineMs: undefined });
  const sockets: Socket[] = [];
  try {
    await program.reset();
    const length = path === SEARCH.path ? CONTENT_LENGTH.json : CONTENT_LENGTH.other;
    const coding = encoding === undefined ? '' : `Content-Encoding: ${encoding}\r\n`;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAccessKey: ${keyOf(0)}\r\nContent-Type: ${type}\r\n${coding}`;
    const through = Array.from({ length: count }, () => begin(program, `${head}Content-Length: ${length}\r\n\r\n`, body, sockets));
    await Promise.all(through);
    const values = { kind: 'usual', bytes: 300, zones: 1 } as const;
    const beside = { program, caller: 1, number: 0, fault: 'none', values, othersDone: Promise.resolve() } as const;
    const outcomes = [await askAs(beside, 'intake'), await askAs(beside, 'light search')];
    return { readings: await program.read(), outcomes, defects: program.defects() };
  } finally {
    for (const socket of sockets) socket.destroy();
    await program.stop();
  }
}

/** Resolves when the program has taken the bytes, or has answered or closed the connection. */
async function begin(program: MeasuredProgram, head: string, body: Uint8Array, sockets: Socket[]): Promise<void> {
  const socket = connect(Number(new URL(program.address).port), '127.0.0.1');
  sockets.push(socket);
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  // A refused connection may be reset.
  socket.on('data', over).on('error', over).on('close', over);
  socket.write(head);
  socket.write(body, over);
  await eventually('a body is taken or refused', () => isOver, 120_000);
}
