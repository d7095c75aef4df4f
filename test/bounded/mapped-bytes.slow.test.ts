import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { HELD_LIMIT_MIB } from './held-bytes.ts';
import { keyOf, MeasuredProgram } from './measured-program.ts';

const MIB = 1024 * 1024;
const BODY_BYTES = 475_000;
/** The texts of a record are in its event once more, and some of them thirty times. */
const MAPPING = `
timestamp: {path: t, time: unix}
zone: {const: '1'}
url: {text: 'https://{x}{x}'}
ua: {text: '${'{y}'.repeat(30)}'}
items: {path: records, decode: [base64, gzip]}
`;

const record = (members: string): string => `{"t":${Date.now()}${members}}`;
const packed = (text: string): string => gzipSync(text).toString('base64');
const envelope = (items: readonly unknown[], padding = 0): string => JSON.stringify({ records: items, padding: ' '.repeat(padding) });
const longUrl = (index: number): string => packed(record(`,"x":"${index}${'x'.repeat(0.3 * MIB)}"`));
const items = Array.from({ length: 16 }, (_, index) => longUrl(index));

/** Lines of which a body has as many as fit. */
const LINES: Readonly<Record<string, string>> = {
  'small envelopes whose items unpack to much': envelope(items),
  'envelopes whose items unpack to as much as they may': envelope(items, 200_000),
  'envelopes of items whose texts are repeated': JSON.stringify({
    records: Array.from({ length: 8 }, (_, index) => ({ t: Date.now(), y: `${index}${'y'.repeat(25_000)}` })),
  }),
  'envelopes of very many items': JSON.stringify({ records: Array<object>(20_000).fill({ t: Date.now() }) }),
};

describe('what a mapping makes of little takes no more memory than the program has', () => {
  test.each(Object.entries(LINES))('of %s', async (_what, line) => {
    const program = await MeasuredProgram.start({ keys: 1, memoryLimitMb: 256, mapping: MAPPING });
    try {
      const body = `${line}\n`.repeat(Math.ceil(BODY_BYTES / line.length));
      const headers = { AccessKey: keyOf(0), 'content-type': 'application/x-ndjson' };
      const send = async (): Promise<number> =>
        (await fetch(`${program.address}/ingest/events?mapping=own`, { method: 'POST', headers, body })).status;
      expect(await Promise.all([send(), send()])).toEqual([202, 202]);
      const { peakMemoryMib } = await program.read();
      expect(peakMemoryMib).toBeLessThan(HELD_LIMIT_MIB);
      expect(program.defects()).toEqual([]);
    } finally {
      await program.stop();
    }
  });
});
