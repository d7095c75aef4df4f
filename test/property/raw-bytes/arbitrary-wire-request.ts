import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { damage, damaged } from '../damaged-bytes.ts';
import { changes } from './damaged-documents.ts';
import { type Draft, drafts } from './request-drafts.ts';
import type { WireRequest } from './wire-exchange.ts';

/** One case: the bytes for one connection, and what they began as. */
export interface Case extends WireRequest {
  readonly operationId: string;
  /** Nothing happened to the request line and the framing: the operation is the one that answers. */
  readonly isForRoute: boolean;
}

type Field = readonly [name: string, value: string];

/** A request on its way to bytes. The texts are latin1: a letter a byte. */
interface Message {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly fields: readonly Field[];
  /** Null: neither a body nor headers that tell of one. */
  readonly body: Buffer | null;
  readonly isForRoute: boolean;
  readonly mayBeIncomplete: boolean;
}

type Step = (message: Message) => Message;

const NOTHING = Buffer.alloc(0);

/** A step that requests without a body are spared. */
function ofBodies(step: (message: Message & { readonly body: Buffer }) => Message): Step {
  return (message) => (message.body === null ? message : step({ ...message, body: message.body }));
}

const JUNK_IN_TARGETS = [
  '%',
  '%zz',
  '%00',
  '%ff',
  '%2f',
  '%2e%2e',
  '..',
  '//',
  '/./',
  ';',
  '#',
  '?',
  '&',
  ' ',
  '\t',
  '\0',
  '\xe9',
  '\\',
  '[]=1',
  '=',
  '+',
  '9'.repeat(30),
];
const JUNK_IN_QUERIES = [
  '&limit=1',
  '&limit=1&limit=2',
  '&nonsense',
  '&__proto__=1',
  '&cursor=now',
  '&search=',
  '&search=%7B%7D',
  '&a[b]=1',
  `&${'x=&'.repeat(1_500)}`,
  `&x=${'y'.repeat(20_000)}`,
  '%',
  '%zz',
  '%00',
  '%ff',
  '%ed%a0%80',
  '%u0061',
  '+',
  ';',
  '\xe9',
];

function inserted(text: string, at: number, what: string): string {
  const offset = at % (text.length + 1);
  return text.slice(0, offset) + what + text.slice(offset);
}

const inQuery: fc.Arbitrary<Step> = fc.tuple(fc.nat(), fc.constantFrom(...JUNK_IN_QUERIES)).map(([at, junk]) => (message) => {
  const [path = '', query] = message.target.split('?', 2);
  if (query === undefined || junk.startsWith('&'))
    return { ...message, target: `${message.target}${query === undefined ? '?' : ''}${junk}` };
  return { ...message, target: `${path}?${inserted(query, at, junk)}` };
});

const inRequestLine: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.nat(), fc.constantFrom(...JUNK_IN_TARGETS)).map(
    ([at, junk]): Step =>
      (message) => ({ ...message, target: `/${inserted(message.target.slice(1), at, junk)}` }),
  ),
  fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'CONNECT', 'DELETE', 'PRI', 'get', 'SEARCH', 'M-SEARCH', 'NONSENSE').map(
    (method): Step =>
      (message) => ({ ...message, method }),
  ),
  fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/9', 'http/1.1', 'RTSP/1.0', '').map(
    (version): Step =>
      (message) => ({ ...message, version }),
  ),
  fc
    .constantFrom(
      '*',
      '',
      'http://127.0.0.1/healthz',
      'http://elsewhere.example/',
      '//elsewhere.example/',
      `/${'a'.repeat(17_000)}`,
      '/docs',
      '/',
    )
    .map(
      (target): Step =>
        (message) => ({ ...message, target }),
    ),
);

const HEADERS: readonly Field[] = [
  ...[
    '',
    '*/*',
    'image/png',
    'text/plain',
    'application/x-ndjson',
    'text/csv',
    'text/event-stream',
    'application/json;q=0',
    'a/b;q=,,;',
    `${'a/b,'.repeat(2_000)}*/*`,
  ].map((value): Field => ['Accept', value]),
  ...['gzip', 'zstd', 'br', 'identity;q=0', '*;q=0', 'gzip;q=x', 'gzip, zstd;q=0.5'].map((value): Field => ['Accept-Encoding', value]),
  ...[
    '',
    'text/json',
    'application/vnd.x+json',
    'application/json; charset=utf-16',
    'text/csv',
    'multipart/form-data',
    'application/json;;',
    'application/x-ndjson',
    '/',
    'application/json, text/csv',
  ].map((value): Field => ['Content-Type', value]),
  ...['br', 'gzip', 'zstd', 'deflate', 'gzip, gzip', 'identity', 'x-gzip', ''].map((value): Field => ['Content-Encoding', value]),
  ...['', 'wrong', 'key-of-zone-one-alone ', 'x'.repeat(10_000), '\xff\xfe'].map((value): Field => ['AccessKey', value]),
  ...['Bearer', 'Bearer x', 'Basic eDp5', `Bearer ${'t'.repeat(9_000)}`].map((value): Field => ['Authorization', value]),
  ['Last-Event-ID', 'now'],
  ['Last-Event-ID', '\xff'.repeat(28)],
  ['Origin', 'https://elsewhere.example'],
  ['Range', 'bytes=0-1'],
  ['If-None-Match', '*'],
  ['X-Forwarded-For', `${'10.0.0.1, '.repeat(500)}::1`],
  ['X-Long', 'x'.repeat(15_000)],
  ['X-Long', 'x'.repeat(17_000)],
  ['X-Latin', '\xe9\xff'],
  ['Cookie', 'a=b; '.repeat(1_000)],
];

/** Headers that say how the connection goes on, or how the body comes. */
const RISKY_HEADERS: readonly Field[] = [
  ['Expect', '100-continue'],
  ['Expect', '200-ok'],
  ['Connection', 'Upgrade'],
  ['Upgrade', 'h2c'],
  ['Connection', 'keep-alive'],
  ['Transfer-Encoding', 'identity'],
  ['Transfer-Encoding', 'gzip, chunked'],
  ['Transfer-Encoding', 'chunked, chunked'],
  ['Transfer-Encoding', ' Chunked'],
  ['Content-Length', '0'],
  ['Content-Length', '-1'],
  ['Content-Length', '+5'],
  ['Content-Length', '0x10'],
  ['Content-Length', '18446744073709551616'],
  ['Content-Length', '1, 1'],
  ['Host', ''],
  ['Host', 'elsewhere.example'],
  ['X-Folded', 'a\r\n b'],
  ['X-Nul', 'a\0b'],
  ['X-Return', 'a\rb'],
  ['X-Line', 'a\nb'],
  ['Bad Name', '1'],
  ['', '1'],
  ['X', '\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
];

function withHeader([name, value]: Field, isAdded: boolean): Step {
  return (message) => ({
    ...message,
    fields: [...message.fields.filter(([other]) => isAdded || other.toLowerCase() !== name.toLowerCase()), [name, value]],
  });
}

const inHeaders: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom(...HEADERS), fc.integer({ min: 0, max: 3 }))
  .map(([field, added]) => withHeader(field, added === 0));

const risky =
  (step: Step): Step =>
  (message) => ({ ...step(message), isForRoute: false, mayBeIncomplete: true });

const inFraming: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constantFrom(...RISKY_HEADERS), fc.boolean()).map(([field, isAdded]) => risky(withHeader(field, isAdded))),
  fc
    .constantFrom('Host', 'AccessKey', 'Authorization', 'Content-Type', 'Content-Length')
    .map((name) => risky((message) => ({ ...message, fields: message.fields.filter(([other]) => other !== name) }))),
);

/** Compressed, and then perhaps broken; or much more than it seems. */
const inEncoding: fc.Arbitrary<Step> = fc
  .tuple(
    fc.constantFrom<'gzip' | 'zstd'>('gzip', 'zstd'),
    fc.constantFrom('', '', '', 'twice', 'cut', 'bomb', 'trailing'),
    fc.option(damage, { freq: 3 }),
  )
  .map(([encoding, how, broken]) =>
    ofBodies((message) => {
      const compress = (bytes: Buffer): Buffer => (encoding === 'gzip' ? gzipSync(bytes) : zstdCompressSync(bytes));
      const whole = compress(how === 'bomb' ? Buffer.alloc(20 * 1024 * 1024, '\n') : message.body);
      const shaped: Readonly<Record<string, Buffer>> = {
        twice: Buffer.concat([whole, compress(Buffer.from('\n')), whole]),
        cut: whole.subarray(0, whole.length - 3),
        trailing: Buffer.concat([whole, Buffer.from('rest')]),
      };
      const bytes = shaped[how] ?? whole;
      return { ...withHeader(['Content-Encoding', encoding], false)(message), body: broken === null ? bytes : damaged(bytes, broken) };
    }),
  );

const chunk = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

function chunked(body: Buffer, size: number): Buffer {
  const count = Math.ceil(body.length / size);
  const chunks = Array.from({ length: count }, (_, index) => chunk(body.subarray(index * size, (index + 1) * size)));
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

/** The framing of the body, as it should be or not. */
const framings: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constant(
      ofBodies((message) => ({ ...message, fields: [...message.fields, ['Content-Length', String(message.body.length)]] })),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(0.01, 0.3, 1).map((share) =>
      ofBodies((message) => ({
        ...message,
        fields: [...message.fields, ['Transfer-Encoding', 'chunked']],
        body: chunked(message.body, Math.max(1, Math.ceil(message.body.length * share))),
      })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(-10, -1, 1, 5_000).map(
      (more): Step =>
        ofBodies(
          risky((message) => ({
            ...message,
            fields: [...message.fields, ['Content-Length', String(Math.max(0, (message.body ?? NOTHING).length + more))]],
          })),
        ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(damage, fc.constantFrom('', 'Content-Length', 'Trailer')).map(([broken, beside]) =>
      ofBodies(
        risky((message) => ({
          ...message,
          fields: [...message.fields, ['Transfer-Encoding', 'chunked'], ...(beside === '' ? [] : [[beside, '5'] as const])],
          body: damaged(chunked(message.body ?? NOTHING, 1_000), broken),
        })),
      ),
    ),
  },
);

function bytesOf({ method, target, version, fields, body }: Message, lineEnd: string): Buffer {
  const lines = [`${method} ${target} ${version}`, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.concat([Buffer.from(lines.join(lineEnd), 'latin1'), body ?? NOTHING]);
}

/** The credentials that the program accepts for each operation. */
export interface Credentials {
  readonly accessKeyFor: (operationId: string) => string;
  readonly databaseToken: string;
}

function messageOf({ operationId, method, path, query, headers, body }: Draft, { accessKeyFor, databaseToken }: Credentials): Message {
  const named: readonly Field[] = Object.entries(headers).map(([name, value]) => [name === 'content-type' ? 'Content-Type' : name, value]);
  return {
    method,
    target: query === '' ? path : `${path}?${query}`,
    version: 'HTTP/1.1',
    fields: [['Host', 'localhost'], ['AccessKey', accessKeyFor(operationId)], ['Authorization', `Bearer ${databaseToken}`], ...named],
    body,
    isForRoute: true,
    mayBeIncomplete: false,
  };
}

/** Cuts the bytes at these offsets into the pieces in which they arrive. */
function inPieces(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const offsets = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return offsets.slice(1).map((end, index) => bytes.subarray(offsets[index], end));
}

/**
 * Requests for every route, most of which something has happened to: to the document, its encoding, its query, its headers, its framing,
 * the bytes as a whole.
 */
export function arbitraryCase(nowMs: number, credentials: Credentials): fc.Arbitrary<Case> {
  const nothing = fc.constant<Step>((message) => message);
  const inDocument = changes.map((change) => ofBodies((message) => ({ ...message, body: change(message.body) })));
  const withBody = fc.constant<Step>((message) => ({ ...message, body: message.body ?? Buffer.from('{}') }));
  const anything = fc.oneof(
    { weight: 6, arbitrary: nothing },
    { weight: 12, arbitrary: inDocument },
    { weight: 3, arbitrary: inEncoding },
    { weight: 4, arbitrary: inQuery },
    { weight: 3, arbitrary: inHeaders },
    { weight: 1, arbitrary: withBody },
    { weight: 2, arbitrary: inRequestLine.map(risky) },
    { weight: 2, arbitrary: inFraming },
  );
  // The second often finds the request refused for the first: most have one.
  const steps = fc.tuple(anything, fc.oneof({ weight: 4, arbitrary: nothing }, { weight: 1, arbitrary: anything }), framings);
  const ends = fc.oneof(
    { weight: 30, arbitrary: fc.constant('\r\n') },
    { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n', '\n\r\n') },
  );
  const cuts = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }) },
  );
  return fc
    .tuple(drafts(nowMs), steps, ends, fc.oneof({ weight: 25, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: damage }), cuts)
    .map(([draft, taken, lineEnd, broken, cuts]) => {
      const message = taken.reduce((before, step) => step(before), messageOf(draft, credentials));
      const isPlain = lineEnd === '\r\n' && broken === null;
      const bytes = bytesOf(message, lineEnd);
      return {
        operationId: draft.operationId,
        pieces: inPieces(broken === null ? bytes : damaged(bytes, broken), cuts),
        isForRoute: message.isForRoute && isPlain,
        mayBeIncomplete: message.mayBeIncomplete || !isPlain,
      };
    });
}
