import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createGunzip, createZstdDecompress } from 'node:zlib';

export interface FeedRead {
  readonly events: number;
  /** As they came over the wire, packed or not. */
  readonly bytes: number;
  readonly cursor: string;
}

const UNPACK = { gzip: createGunzip, zstd: createZstdDecompress };

/** Reads a feed page by page until there is no more. */
export async function readFeedPages(url: string, encoding: string): Promise<FeedRead> {
  const agent = new Agent({ keepAlive: true });
  let [events, bytes, cursor] = [0, 0, ''];
  for (;;) {
    const address = cursor === '' ? url : `${url}&cursor=${cursor}`;
    const [response] = (await once(get(address, { agent, headers: { 'accept-encoding': encoding } }), 'response')) as [IncomingMessage];
    let tail = Buffer.alloc(0);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const content = encoding === 'gzip' || encoding === 'zstd' ? response.pipe(UNPACK[encoding]()) : response;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      tail = Buffer.concat([tail.subarray(-256), chunk.subarray(-256)]);
    }
    const last = tail.toString('latin1').trimEnd().split('\n').at(-1) ?? '';
    if (response.statusCode !== 200) {
      throw new Error(`${address}: ${response.statusCode}`);
    }
    const page = JSON.parse(last) as { readonly cursor: string; readonly more: boolean; readonly count: number };
    events += page.count;
    cursor = page.cursor;
    if (!page.more) {
      agent.destroy();
      return { events, bytes, cursor };
    }
  }
}
