// Downloads an export without keeping it, in a separate process. It is started with its order as JSON in the first argument and sends its
// report as one message.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { PassThrough, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';

export interface ExportRun {
  /** The `Accept` and the `Accept-Encoding` of the request. */
  readonly type: string;
  readonly encoding: string;
}

export interface ExportClientOrder extends ExportRun {
  readonly url: string;
  /** The body of the request. */
  readonly body: string;
}

/** The measurements of a client of an export. */
export interface ExportClientReport {
  readonly toFirstMs: number;
  readonly elapsedMs: number;
  /** Bytes on the wire, and uncompressed. */
  readonly bytes: number;
  readonly plainBytes: number;
  /** Line ends. The texts of the generated events have none. */
  readonly lines: number;
}

const LINE_END = 10;

const { url, body, type, encoding } = JSON.parse(process.argv[2] ?? '{}') as ExportClientOrder;
const DECODERS: Readonly<Record<string, () => Transform>> = { gzip: createGunzip, zstd: createZstdDecompress };

const start = performance.now();
let [toFirstMs, bytes, plainBytes, lines] = [0, 0, 0, 0];
const asked = request(url, { method: 'POST', headers: { 'content-type': 'application/json', accept: type, 'accept-encoding': encoding } });
asked.end(body);
const [answer] = (await once(asked, 'response')) as [IncomingMessage];
if (answer.statusCode !== 200) throw new Error(`the export was answered ${answer.statusCode}`);
answer.on('data', (chunk: Buffer) => {
  toFirstMs ||= performance.now() - start;
  bytes += chunk.length;
});
await pipeline(answer, DECODERS[encoding]?.() ?? new PassThrough(), async (chunks: AsyncIterable<Buffer>) => {
  for await (const chunk of chunks) {
    plainBytes += chunk.length;
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) lines += 1;
  }
});
process.send?.({ toFirstMs, elapsedMs: performance.now() - start, bytes, plainBytes, lines } satisfies ExportClientReport);
