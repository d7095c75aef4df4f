import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { exampleOf, send } from '../example-requests.ts';
import { expectAnswer } from '../schema-check.ts';
import { recordingUpstream } from '../upstreams.ts';
import { startProxy } from './proxy-app.ts';

const ADDRESS = 'http://db7.internal:8080/tenant';
const REST = ', "results" : [ {"type":"error","error":{"message":"\\u00e9 \\"base_url\\": \\"x\\" é","code":null}} ]\n}';

/** The answer of operation 14 behind an upstream that answers these bytes. */
async function answerOf(body: Buffer, headers: Readonly<Record<string, string>> = {}, status = 200) {
  await using upstream = await recordingUpstream((_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
  );
  await using proxy = await startProxy({ target: { url: upstream.url } });
  const answer = await send(proxy.url, exampleOf(14));
  return { status: answer.status, encoding: answer.headers.get('content-encoding'), text: await answer.text() };
}

test.each([
  ['an address', `{"baton":"b","base_url":"${ADDRESS}"`, '{"baton":"b","base_url":null'],
  [
    'an address in an escaped member',
    `{"bas\\u0065\\u005Furl"\n:\t"${ADDRESS}","baton":null`,
    '{"bas\\u0065\\u005Furl"\n:\tnull,"baton":null',
  ],
  ['an address in a member of other letters', `{"Base_URL":"${ADDRESS}","baton":null`, '{"Base_URL":null,"baton":null'],
  ['an address with escapes', '{"base_url":"http:\\/\\/db7.internal\\u002f\\"\\\\","baton":null', '{"base_url":null,"baton":null'],
  ['two addresses', `{"base_url":"${ADDRESS}","base_url":"${ADDRESS}"`, '{"base_url":null,"base_url":null'],
  ['no address', '{ "base_url" : null, "baton":null', '{ "base_url" : null, "baton":null'],
  ['no such member', '{"baton":"base_url"', '{"baton":"base_url"'],
  ['a longer name', `{"the base_url":"${ADDRESS}","a\\"base_url":"x"`, `{"the base_url":"${ADDRESS}","a\\"base_url":"x"`],
])('%s of an upstream database is answered as null, and all other bytes as they are', async (_what, sent, answered) => {
  expect(await answerOf(Buffer.from(sent + REST))).toEqual({ status: 200, encoding: null, text: answered + REST });
});

test('an error of an upstream database names no address, and bytes that are not UTF-8 stay', async () => {
  await using upstream = await recordingUpstream((_request, response) =>
    response.writeHead(400, { 'content-type': 'text/plain' }).end(Buffer.from(`\xff{"base_url":"${ADDRESS}"}\xfe`, 'latin1')),
  );
  await using proxy = await startProxy({ target: { url: upstream.url } });
  const answer = await send(proxy.url, exampleOf(14));
  expect([answer.status, Buffer.from(await answer.arrayBuffer()).toString('latin1')]).toEqual([400, '\xff{"base_url":null}\xfe']);
});

const twice = (bytes: Buffer): Buffer => brotliCompressSync(gzipSync(bytes));

test.each([
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['zstd', zstdCompressSync],
  ['gzip, br', twice],
] as const)('an answer in %s names no address either; without one it stays compressed', async (encoding, compress) => {
  const text = `{"baton":null,"base_url":"${ADDRESS}"${REST}`;
  const hidden = `{"baton":null,"base_url":null${REST}`;
  expect(await answerOf(compress(Buffer.from(text)), { 'content-encoding': encoding })).toEqual({
    status: 200,
    encoding: null,
    text: hidden,
  });
  if (encoding === 'deflate') return;
  const kept = await answerOf(compress(Buffer.from(hidden)), { 'content-encoding': encoding });
  expect(kept).toEqual({ status: 200, encoding, text: hidden });
});

const HEAD = Buffer.from('{"baton":null,');
const TAIL = Buffer.from(`"base_url":"${ADDRESS}"${REST}`);
const PARTS = [HEAD, TAIL];
const SKIPPED = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0x28, 0xb5]);
const EMPTY = Buffer.alloc(0);
/** As long as the pieces in which Node decompresses, so that a frame ends where a piece does. */
const BLANKS = Buffer.alloc(16_384, ' ');
const halves = (bytes: Buffer): Buffer[] => [bytes.subarray(0, 20), bytes.subarray(20)];
const zlibbed = (bytes: Buffer): Buffer => deflateSync(bytes);

test.each([
  ['two frames', 'zstd', PARTS.map((part) => zstdCompressSync(part))],
  ['a frame that is skipped, first', 'zstd', [SKIPPED, zstdCompressSync(Buffer.concat(PARTS))]],
  ['frames that are skipped, between and last', 'zstd', [zstdCompressSync(HEAD), SKIPPED, zstdCompressSync(TAIL), SKIPPED]],
  ['a frame of nothing, first', 'zstd', [EMPTY, ...PARTS].map((part) => zstdCompressSync(part))],
  ['a frame of as much as is decompressed at once', 'zstd', [BLANKS, ...PARTS].map((part) => zstdCompressSync(part))],
  ['two members', 'gzip', PARTS.map((part) => gzipSync(part))],
  ['members with NULs between and behind', 'gzip', [gzipSync(HEAD), Buffer.alloc(9), gzipSync(TAIL), Buffer.alloc(9)]],
  ['two zlib streams', 'deflate', PARTS.map(zlibbed)],
  ['two frames around one stream', 'br, zstd', halves(brotliCompressSync(Buffer.concat(PARTS))).map((half) => zstdCompressSync(half))],
])('an answer of %s in %s is read whole', async (what, encoding, pieces) => {
  const answer = await answerOf(Buffer.concat(pieces), { 'content-encoding': encoding });
  const before = what.startsWith('a frame of as much') ? BLANKS.toString() : '';
  expect(answer).toEqual({ status: 200, encoding: null, text: `${before}{"baton":null,"base_url":null${REST}` });
});

const WHOLE = Buffer.from('{"baton":null,"base_url":null}');
const JUNK = Buffer.from('junk');

test.each([
  ['zstd and junk', 'zstd', [zstdCompressSync(WHOLE), JUNK]],
  ['zstd and NULs', 'zstd', [zstdCompressSync(WHOLE), Buffer.alloc(4)]],
  ['zstd and a frame that is cut off', 'zstd', [zstdCompressSync(WHOLE), zstdCompressSync(WHOLE).subarray(0, -1)]],
  ['zstd that fills a piece, and one byte of a frame', 'zstd', [zstdCompressSync(BLANKS), Buffer.from([0x28])]],
  ['zstd and a skipped frame that is cut off', 'zstd', [zstdCompressSync(WHOLE), SKIPPED.subarray(0, -1)]],
  ['gzip and junk', 'gzip', [gzipSync(WHOLE), JUNK]],
  ['gzip, NULs and junk', 'gzip', [gzipSync(WHOLE), Buffer.alloc(3), JUNK]],
  ['gzip and one byte of a member', 'gzip', [gzipSync(WHOLE), Buffer.from([0x1f])]],
  ['zlib and junk', 'deflate', [deflateSync(WHOLE), JUNK]],
  ['zlib and raw deflate', 'deflate', [deflateSync(WHOLE), deflateRawSync(WHOLE)]],
  ['raw deflate and junk', 'deflate', [deflateRawSync(WHOLE), JUNK]],
  ['brotli and junk', 'br', [brotliCompressSync(WHOLE), JUNK]],
  ['brotli and an empty stream', 'br', [brotliCompressSync(WHOLE), Buffer.from([0x06])]],
  ['frames of more bytes together than an answer may have', 'zstd', Array(5).fill(zstdCompressSync(Buffer.alloc(8 * 1024 * 1024, ' ')))],
] as const)('an answer of %s is not handed on', async (_what, encoding, pieces) => {
  const { status, text } = await answerOf(Buffer.concat(pieces), { 'content-encoding': encoding });
  expect([status, text]).toEqual([502, expect.stringMatching(/damaged|larger than 33554432 bytes/u)]);
});

test.each([
  ['an encoding that nobody knows', 'xpress', Buffer.from('abc'), 'content encoding'],
  ['damaged bytes', 'gzip', gzipSync('{"base_url":null}').subarray(0, 20), 'damaged'],
  ['more bytes than an answer may have', 'gzip', gzipSync(Buffer.alloc(33 * 1024 * 1024, ' ')), 'larger than 33554432 bytes'],
])('an answer with %s is not handed on', async (_what, encoding, body, message) => {
  const { status, text } = await answerOf(body, { 'content-encoding': encoding });
  expect([status, text]).toEqual([502, expect.stringContaining(message)]);
  expectAnswer(14, 502, JSON.parse(text));
});

test('answers of other operations are not looked into', async () => {
  await using upstream = await recordingUpstream((_request, response) => response.writeHead(200, {}).end(`{"base_url":"${ADDRESS}"}`));
  await using proxy = await startProxy({ target: { url: upstream.url } });
  expect(await (await send(proxy.url, exampleOf(11))).text()).toBe(`{"base_url":"${ADDRESS}"}`);
});
