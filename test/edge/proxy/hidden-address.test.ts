import { gzipSync } from 'node:zlib';
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

test('an upstream is asked for no content encoding, and an answer in one is not handed on', async () => {
  const { status, text } = await answerOf(gzipSync('{"base_url":null}'), { 'content-encoding': 'gzip' });
  expect([status, text]).toEqual([502, expect.stringContaining('content encoding')]);
  expectAnswer(14, 502, JSON.parse(text));
  await using upstream = await recordingUpstream((_request, response) => response.end('{}'));
  await using proxy = await startProxy({ target: { url: upstream.url } });
  await send(proxy.url, exampleOf(14));
  expect(upstream.seen[0]?.headers['accept-encoding']).toBe('identity');
});

test.each(['identity', 'Identity'])('an answer that names %s is one without', async (encoding) => {
  const answer = await answerOf(Buffer.from(`{"base_url":"${ADDRESS}"}`), { 'content-encoding': encoding });
  expect(answer).toMatchObject({ status: 200, text: '{"base_url":null}' });
});

test('answers of other operations are not looked into', async () => {
  await using upstream = await recordingUpstream((_request, response) => response.writeHead(200, {}).end(`{"base_url":"${ADDRESS}"}`));
  await using proxy = await startProxy({ target: { url: upstream.url } });
  expect(await (await send(proxy.url, exampleOf(11))).text()).toBe(`{"base_url":"${ADDRESS}"}`);
});
