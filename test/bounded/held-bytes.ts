import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually } from '../fixtures/eventually.ts';
import { zstdFrame } from '../fixtures/zstd-frame.ts';
import { askAs, eventBatches, type Outcome, takeIn } from './clients.ts';
import { keyOf, MeasuredProgram, residentMb } from './measured-program.ts';
import { type RequestKind, tailPath, type WireRequest, wireRequest } from './requests.ts';

/** The least of MEMORY_LIMIT_MB, so that what is held beside it shows. */
const MEMORY_LIMIT_MB = 256;
/** What the program may take then, in MiB. */
export const HELD_LIMIT_MIB = residentMb(MEMORY_LIMIT_MB);

const VALUES = { kind: 'long log', bytes: 200_000, zones: 1 } as const;
const EVENTS = 200;
const LETTERS = 40;
const LETTER_BYTES = 1_000_000;
const HEADER_BYTES = 15 * 1024;

export interface HeldBytes {
  /** How many are opened. */
  readonly count: number;
  /** What each of them sends, before it reads nothing. */
  readonly sent: () => Promise<Uint8Array> | Uint8Array | string;
  /** The request does not come whole, so that nothing is answered while there is room for it. */
  readonly isUnfinished?: true;
}

function head({ method, path, headers, body = '' }: Partial<WireRequest>): string {
  const lines = Object.entries({ Host: 'localhost', AccessKey: keyOf(0), 'Content-Length': String(Buffer.byteLength(body)), ...headers });
  return `${method ?? 'GET'} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

const asking = (kind: Exclude<RequestKind, 'tail' | 'intake'>) => () => head(wireRequest(kind, VALUES, 0, Date.now()));
const getting = (path: string) => () => head({ path });

/** What the program holds of callers, by the rows of docs/limits.md, and many callers who make it hold that. */
export const HELD_BYTES = {
  'answers of searches and of the explorer that are not read': { count: 200, sent: asking('rows') },
  'lists of dead letters that are not read': { count: 300, sent: getting('/ingest/dead-letters?limit=10000') },
  'pages of the feed that are not read': { count: 200, sent: asking('feed native') },
  'exports that are not read': { count: 200, sent: asking('export NDJSON') },
  'tails that are not read': { count: 200, sent: () => head({ path: tailPath(VALUES, 0) }) },
  'backups that are not read': {
    count: 100,
    sent: () => head({ method: 'POST', path: '/backup', headers: { 'content-type': 'application/json' }, body: '{"files":[]}' }),
  },
  'checks that are not read': { count: 100, sent: getting('/check') },
  'files of the pages that are not read': { count: 500, sent: getting('/docs/static/swagger-ui-bundle.js') },
  'descriptions of the interface that are not read': { count: 500, sent: getting('/openapi.json') },
  'headers of requests that have not come whole': {
    count: 4_000,
    sent: () => `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(HEADER_BYTES)}`,
    isUnfinished: true,
  },
} as const satisfies Readonly<Record<string, HeldBytes>>;

/** Those that the store on ClickHouse reads and holds by itself. */
export const HELD_ON_CLICKHOUSE = {
  'answers of searches and of the explorer that are not read': HELD_BYTES['answers of searches and of the explorer that are not read'],
  'pages of the feed that are not read': HELD_BYTES['pages of the feed that are not read'],
} as const satisfies Readonly<Record<string, HeldBytes>>;

/** A body of which these bytes come, and not the rest. */
function unfinished(headers: Readonly<Record<string, string>>, body: Uint8Array | string, path = '/ingest/events'): Buffer {
  return Buffer.concat([
    Buffer.from(head({ method: 'POST', path, headers: { 'Content-Length': String(MIB), ...headers } })),
    Buffer.from(body),
  ]);
}

const MIB = 1024 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const LINES = { 'Content-Type': 'application/x-ndjson', 'Content-Length': String(1_024 * MIB) };
const line = (rest: object = {}): string => `${JSON.stringify({ shieldZoneId: 1, timestamp: Date.now(), ...rest })}\n`;

/** The ways in which bodies without their ends hold memory, which is one budget. */
export const UNFINISHED_BODIES = {
  'search bodies of 1 MiB': {
    count: 1_500,
    sent: () => unfinished(JSON_TYPE, ' '.repeat(MIB - 1), '/shield/event-logs/1/search'),
    isUnfinished: true,
  },
  'lines of 1 MiB': { count: 1_000, sent: () => unfinished(LINES, line({ ua: 'x'.repeat(MIB - 100) }).slice(0, -2)), isUnfinished: true },
  'objects of 1 MiB over lines': {
    count: 300,
    sent: () => unfinished({ ...LINES, ...JSON_TYPE }, `{\n"log":"${'x'.repeat(MIB)}\n`),
    isUnfinished: true,
  },
  'decoders of gzip': {
    count: 2_000,
    sent: () => unfinished({ ...LINES, 'Content-Encoding': 'gzip' }, gzipSync(line()).subarray(0, -8)),
    isUnfinished: true,
  },
  'windows of zstd of 8 MiB': {
    count: 60,
    sent: async () =>
      unfinished(
        { ...LINES, 'Content-Encoding': 'zstd' },
        (await zstdFrame(line({ ua: 'x'.repeat(900) }).repeat(10_000), 23)).subarray(0, -4),
      ),
    isUnfinished: true,
  },
  'rejected events': { count: 200, sent: () => unfinished(LINES, 'x\n'.repeat(9_000)), isUnfinished: true },
} as const satisfies Readonly<Record<string, HeldBytes>>;

/** What a program of its own took, and what another caller was answered beside the others. */
interface WhileHeld {
  /** MiB. */
  readonly peak: number;
  readonly outcomes: readonly Outcome[];
  readonly defects: readonly string[];
}

/** Opens as many as the row says at once, has another caller send events, which also go to tails, and search. */
export async function measureWhileHeld({ count, sent, isUnfinished }: HeldBytes): Promise<WhileHeld> {
  const bytes = await sent();
  const program = await MeasuredProgram.start({ keys: 2, memoryLimitMb: MEMORY_LIMIT_MB });
  const sockets: Socket[] = [];
  try {
    if (isUnfinished !== true) await fill(program);
    await Promise.all(Array.from({ length: count }, () => open(program, bytes, isUnfinished === true, sockets)));
    const beside = { program, caller: 1, number: 0, fault: 'none', values: VALUES, othersDone: Promise.resolve() } as const;
    const outcomes = [await askAs(beside, 'intake'), await askAs(beside, 'light search')];
    return { peak: await peakAtRest(program), outcomes, defects: program.defects() };
  } finally {
    for (const socket of sockets) socket.destroy();
    await program.stop();
  }
}

/** Resolves when the program has begun to answer, has closed the connection, or has taken all of an unfinished request. */
async function open(program: MeasuredProgram, bytes: Uint8Array | string, isUnfinished: boolean, sockets: Socket[]): Promise<void> {
  const { port, hostname } = new URL(program.address);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const { promise, resolve } = Promise.withResolvers<void>();
  // No byte is read: what the kernel does not take stays with the program. A refused connection may be reset.
  socket
    .once('readable', resolve)
    .once('close', resolve)
    .on('error', () => undefined);
  socket.write(bytes, () => {
    if (isUnfinished) resolve();
  });
  await promise;
}

async function fill(program: MeasuredProgram): Promise<void> {
  for (const lines of eventBatches(VALUES, EVENTS, 1_000)) await takeIn(program, lines);
  await sendLetters(program);
  await program.flush();
}

async function sendLetters(program: MeasuredProgram): Promise<void> {
  const body = Array.from({ length: LETTERS }, (_, index) => `${index} ${'x'.repeat(LETTER_BYTES)}\n`).join('');
  const headers = { AccessKey: keyOf(0), 'content-type': 'application/x-ndjson' };
  const { status } = await fetch(`${program.address}/ingest/events`, { method: 'POST', headers, body });
  if (status !== 202) throw new Error(`the dead letters are not taken in: ${status}`);
}

const LOOKS = 20;

/** The peak once it has been the same for some looks. */
async function peakAtRest(program: MeasuredProgram): Promise<number> {
  let peak = 0;
  let same = 0;
  await eventually('the program takes no more memory', async () => {
    const { peakMemoryMib } = await program.read();
    same = peakMemoryMib === peak ? same + 1 : 0;
    peak = peakMemoryMib;
    return same === LOOKS;
  });
  return peak;
}
