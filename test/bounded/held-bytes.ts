import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { residentMemoryMb } from '../../store/memory-shares.ts';
import { eventually } from '../fixtures/eventually.ts';
import { eventBatches, takeIn } from './clients.ts';
import { keyOf, MeasuredProgram } from './measured-program.ts';
import { type RequestKind, tailPath, type WireRequest, wireRequest } from './requests.ts';

/** The least of MEMORY_LIMIT_MB, so that what is held beside it shows. */
const MEMORY_LIMIT_MB = 256;
/** What the program may take then, in MiB. */
export const HELD_LIMIT_MIB = residentMemoryMb(MEMORY_LIMIT_MB);

const VALUES = { kind: 'long log', bytes: 200_000, zones: 1 } as const;
const EVENTS = 200;
const LETTERS = 40;
const LETTER_BYTES = 1_000_000;
const HEADER_BYTES = 15 * 1024;

interface HeldBytes {
  /** How many are opened. */
  readonly count: number;
  /** What each of them sends, before it reads nothing. */
  readonly sent: () => string;
  /** Nothing is answered, because the request has not come whole. */
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

/** Opens as many as the row says in a program of its own. Resolves with the most memory that it took, in MiB. */
export async function memoryWhileHeld(name: keyof typeof HELD_BYTES): Promise<number> {
  const { count, sent, isUnfinished }: HeldBytes = HELD_BYTES[name];
  const program = await MeasuredProgram.start({ keys: 1, memoryLimitMb: MEMORY_LIMIT_MB });
  const sockets: Socket[] = [];
  try {
    for (const lines of eventBatches(VALUES, EVENTS, 1_000)) await takeIn(program, lines);
    await sendLetters(program);
    await program.flush();
    const answered: Promise<unknown>[] = [];
    const { port, hostname } = new URL(program.address);
    for (let opened = 0; opened < count; opened += 1) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      sockets.push(socket);
      const closed = once(socket, 'close');
      // No byte is read: what the kernel does not take stays with the program.
      if (isUnfinished !== true) answered.push(Promise.race([once(socket, 'readable'), closed]));
      await Promise.race([new Promise((resolve) => socket.write(sent(), resolve)), closed]);
    }
    await Promise.all(answered);
    // What comes in meanwhile goes to tails.
    for (const lines of eventBatches(VALUES, EVENTS, 1_000, 1)) await takeIn(program, lines);
    return await peakAtRest(program);
  } finally {
    for (const socket of sockets) socket.destroy();
    await program.stop();
  }
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
