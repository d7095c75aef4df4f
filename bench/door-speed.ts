// Measures what a record of AWS WAF costs at each door, beside the same at /ingest/events?mapping=:
//   node bench/door-speed.ts [rounds] [records a request]
// One program takes them in by all ways, in turns, each when it has done all that the one before left to do. What is printed are the
// medians of the rounds, and the longest turn of the main thread of all of them.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { otlpJson, otlpProtobuf, textRecord } from '../test/fixtures/otlp-requests.ts';
import { inEmptyDataDir } from './events/event-file.ts';
import { wafRecord } from './events/waf-record.ts';
import { median } from './report/figures.ts';
import type { DoorsServed, DoorsUse } from './subjects/doors-subject.ts';
import { forkedSubject } from './subjects/fork-subject.ts';

const RECORDS = 10_000;
/** So long a time has to be quiet. */
const REST_MS = 100;
/** Rounds that start threads and compile. */
const WARM_UP = 2;
const [rounds, batch] = [Number(process.argv[2] ?? 11), Number(process.argv[3] ?? 500)];

const JSON_TYPE = 'application/json';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** How records come by each way. */
const WAYS = {
  '/ingest/events': { type: 'application/x-ndjson', body: (texts: readonly string[]) => texts.join('\n') },
  'Splunk HEC': {
    path: '/services/collector/event',
    type: JSON_TYPE,
    body: (texts: readonly string[]) => texts.map((text) => `{"event":${text}}`).join(''),
  },
  _bulk: {
    path: '/_bulk',
    type: 'application/x-ndjson',
    body: (texts: readonly string[]) => texts.map((text) => `{"index":{}}\n${text}\n`).join(''),
  },
  'OTLP, protobuf': {
    path: '/v1/logs',
    type: 'application/x-protobuf',
    body: (texts: readonly string[]) => otlpProtobuf(texts.map(textRecord)),
  },
  'OTLP, JSON': { path: '/v1/logs', type: JSON_TYPE, body: (texts: readonly string[]) => otlpJson(texts.map(textRecord)) },
  Firehose: {
    path: '/ingest/firehose',
    type: JSON_TYPE,
    body: (texts: readonly string[]) => JSON.stringify({ records: texts.map((text) => ({ data: base64(text) })) }),
  },
} as const satisfies Readonly<
  Record<string, { readonly path?: string; readonly type: string; readonly body: (texts: readonly string[]) => string | Buffer }>
>;
type Way = keyof typeof WAYS;
const NAMES = Object.keys(WAYS) as readonly Way[];

/** The requests of a round. No round has a record of another. */
function requestsOf(way: Way, round: number): readonly Buffer[] {
  const { body } = WAYS[way];
  return Array.from({ length: Math.ceil(RECORDS / batch) }, (_, request) => {
    const indices = Array.from({ length: Math.min(batch, RECORDS - request * batch) }, (_, index) => request * batch + index);
    const texts = indices.map((index) => wafRecord(round * RECORDS + index, Date.now() - (index % 3_000) * 1_000).toString());
    return Buffer.from(body(texts) as string);
  });
}

async function send(url: string, way: Way, requests: readonly Buffer[]): Promise<void> {
  const { type } = WAYS[way];
  const path = 'path' in WAYS[way] ? WAYS[way].path : way;
  for (const body of requests) {
    const answer = await fetch(`${url}${path}?mapping=aws-waf&zone=7`, { method: 'POST', headers: { 'content-type': type }, body });
    const text = await answer.text();
    if (!answer.ok || /"errors":true|partialSuccess|"rejectedCount":[1-9]/.test(text)) throw new Error(`${way}: ${answer.status} ${text}`);
  }
}

async function main(dataDir: string): Promise<void> {
  const subject = forkedSubject('doors-subject.ts', { dataDir });
  const [{ url }] = (await once(subject, 'message')) as [DoorsServed];
  const used = async (): Promise<DoorsUse> => {
    subject.send('used');
    return ((await once(subject, 'message')) as [DoorsUse])[0];
  };
  const uses = Object.fromEntries(NAMES.map((way) => [way, [] as DoorsUse[]]));
  for (let round = 0; round < rounds + WARM_UP; round++) {
    for (const [turn, way] of (round % 2 === 0 ? NAMES : NAMES.toReversed()).entries()) {
      const requests = requestsOf(way, round * NAMES.length + turn);
      do await delay(REST_MS);
      while ((await used()).cpuMs > REST_MS / 20);
      await send(url, way, requests);
      const use = await used();
      if (round >= WARM_UP) uses[way]?.push(use);
    }
  }
  subject.disconnect();
  await once(subject, 'exit');
  const plain = uses['/ingest/events'] ?? [];
  for (const way of NAMES) {
    const all = uses[way] ?? [];
    const us = (what: 'cpuMs' | 'mainThreadMs'): string => ((median(all.map((use) => use[what])) * 1_000) / RECORDS).toFixed(1);
    const times = median(all.map(({ cpuMs }, round) => cpuMs / (plain[round]?.cpuMs ?? Number.NaN))).toFixed(2);
    const longest = Math.max(...all.map(({ longestTurnMs }) => longestTurnMs)).toFixed(1);
    console.log(
      `${way.padEnd(15)} ${us('cpuMs')} µs of CPU, ${us('mainThreadMs')} on the main thread, ${times} times; longest turn ${longest} ms`,
    );
  }
}

await inEmptyDataDir('door-speed', main);
