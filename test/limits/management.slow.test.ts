import { afterAll, beforeAll, expect } from 'vitest';
import { MAX_LARGE_BODIES_BYTES } from '../../edge/body-thread.ts';
import { JSON_COST } from '../../edge/json-scan.ts';
import { MAX_WRITTEN_LENGTH } from '../../edge/local/api-guardian/schema-writer.ts';
import { GUARDIAN_LIMITS, MAX_DEPTH, MAX_HOPS, MAX_SPEC_BYTES, MAX_VALUES } from '../../edge/local/api-guardian/spec-tree.ts';
import { externalCertificates } from '../../edge/local/certificates/external-certificates.ts';
import { CHALLENGE_LIFETIME_MS, httpChallengeResolver, MAX_CHALLENGE_BYTES } from '../../edge/local/certificates/http-challenge.ts';
import { STATE_LIMIT_BYTES } from '../../edge/local/control-plane-state.ts';
import { dnsZones } from '../../edge/local/dns/dns-zones.ts';
import { MAX_RECORD_VARIABLES } from '../../edge/local/dns/record-fields.ts';
import { MAX_TEXT_BYTES } from '../../edge/local/dns/record-value.ts';
import { pullZones } from '../../edge/local/pull-zones.ts';
import { MAX_SCRIPT_VARIABLES } from '../../edge/local/script-variables.ts';
import { MAX_RECORDS } from '../../edge/operations/dns-zones.ts';
import { DEADLINES, LARGE_BODY_BYTES, SMALL_BODY_BYTES } from '../../edge/operations/operation.ts';
import { CONNECT_MS, CONNECTIONS, MAX_UPSTREAM_ANSWER_BYTES, MAX_UPSTREAM_ANSWERS_BYTES } from '../../edge/proxy/proxy.ts';
import { makeUpstreamBudget } from '../../edge/proxy/upstream-answer.ts';
import { upstreamFailure } from '../../edge/proxy/upstream-failure.ts';
import { BODY_DEADLINE_MS } from '../../src/http/request-body.ts';
import { answering } from '../edge/local/api-guardian/specification.ts';
import { startPlane } from '../edge/local/dns/resource-plane.ts';
import { startProxy } from '../edge/proxy/proxy-app.ts';
import { recordingUpstream } from '../edge/upstreams.ts';
import { type RunningProgram, startWhole } from '../src/management/running-program.ts';
import { ask } from '../src/running-app.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf } from './limit-table.ts';
import { specificationWith } from './specifications.ts';

let program: RunningProgram;
let zones = 0;

beforeAll(async () => {
  program = await startWhole({ LOG_LEVEL: 'warn' });
});

afterAll(() => program[Symbol.asyncDispose]());

function call(method: string, path: string, body: string) {
  return ask(program, path, { method, headers: { 'content-type': 'application/json' }, body });
}

async function variable(fields: object, padded = 0, script = 1): Promise<string> {
  return outcomeOf(await call('PUT', `/compute/script/${script}/variables`, JSON.stringify({ Name: 'LEVEL', ...fields }).padEnd(padded)));
}

async function zone(records: readonly object[], padded = 0): Promise<string> {
  zones += 1;
  return outcomeOf(await call('POST', '/dnszone', JSON.stringify({ Domain: `z${zones}.example`, Records: records }).padEnd(padded)));
}

const record = (fields: object) => zone([{ Type: 0, Name: 'www', Value: '192.0.2.1', ...fields }]);

/** Whether a body is too costly to be read; what else is wrong with it does not count. */
async function cost(body: string): Promise<string> {
  const answer = await call('POST', '/dnszone', body);
  return /allowed: up to [0-9]+"/.test(answer.text) ? outcomeOf(answer) : 'ok';
}

async function specification(content: string): Promise<string> {
  return outcomeOf(await call('PATCH', '/shield/shield-zone/7/api-guardian/spec', JSON.stringify({ content })));
}

/** Makes so many variables of a script, which has none yet or those of an earlier call. */
async function variables(amount: number): Promise<string> {
  let outcome = 'ok';
  for (let index = 0; index < amount && outcome === 'ok'; index += 1) outcome = await variable({ Name: `V${index}` }, 0, 2);
  return outcome;
}

/** Returns the outcome of a challenge whose file on the web server has so many bytes. */
async function challengeFile(size: number): Promise<string> {
  await using web = await recordingUpstream((_request, response) => response.end('x'.repeat(size)));
  const answer = await httpChallengeResolver({ url: web.url, deadlineMs: 30_000 })('www.example.com', '/.well-known/acme-challenge/abc');
  return answer.kind === 'content' ? 'ok' : answer.reason;
}

/** Whether a challenge can be answered when it is so old: on its last millisecond it is over. */
async function challengeAged(ms: number): Promise<string> {
  const name = 'www.example.com';
  const plane = await startPlane([pullZones, externalCertificates(null)]);
  await plane.call(6, {}, { Hostname: name });
  plane.nowMs += ms;
  const { status, body } = await plane.call(7, {}, { Hostname: name });
  await plane.stop();
  return status === 200 ? 'ok' : `${status} ${body.ErrorKey}`;
}

/** Returns the outcome of a new zone that needs so many bytes when the state may grow by 1 MiB. */
async function stateGrownBy(size: number): Promise<string> {
  const plane = await startPlane([dnsZones]);
  const pragma = (name: string): number => Number(plane.db.prepare(`PRAGMA ${name}`).get()?.[name.split(' ', 1)[0] ?? '']);
  expect(pragma('max_page_count') * pragma('page_size')).toBe(STATE_LIMIT_BYTES);
  pragma(`max_page_count = ${pragma('page_count') + 1024 ** 2 / pragma('page_size')}`);
  const Records = Array.from({ length: size / 1_024 }, (_, index) => ({ Name: `h${index}`, Type: 3, Value: 'x'.repeat(1_024) }));
  const { status, body } = await plane.call(4, {}, { Domain: 'a.example', Records });
  const again = await plane.call(4, {}, { Domain: 'b.example' });
  await plane.stop();
  // A change that needs no more pages is still kept.
  expect(again.status).toBe(201);
  return status < 400 ? 'ok' : `${status} ${body.ErrorKey}`;
}

async function upstreamAnswer(size: number): Promise<string> {
  await using upstream = await recordingUpstream((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(size, ' ')),
  );
  await using front = await startProxy({ target: { url: upstream.url } });
  return outcomeOf(await ask({ url: front.url }, '/shield/shield-zone/7/access-lists/1'));
}

/** So many requests at a time to one upstream, which answers none before it has all that come. */
async function connectionsTo(amount: number): Promise<string> {
  const held: (() => void)[] = [];
  await using upstream = await recordingUpstream((_request, response) => {
    held.push(() => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await using front = await startProxy({ target: { url: upstream.url } });
  const answers = Array.from({ length: amount }, () => ask({ url: front.url }, '/shield/shield-zone/7/access-lists/1'));
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(Math.min(amount, CONNECTIONS));
  const most = upstream.connections();
  await expect
    .poll(() => {
      for (const answer of held.splice(0)) answer();
      return upstream.seen.length;
    })
    .toBe(amount);
  for (const answer of held.splice(0)) answer();
  await Promise.all(answers);
  return most === amount ? 'ok' : `taken as ${most}`;
}

/** The memory of a proxy has so many bytes taken. */
async function answersOnTheirWay(size: number): Promise<string> {
  const room = makeUpstreamBudget(MAX_UPSTREAM_ANSWERS_BYTES);
  try {
    room.take(size);
    return 'ok';
  } catch (error) {
    const { status, key } = upstreamFailure(error);
    return `${status} ${key}`;
  }
}

const SPECIFICATION = JSON.stringify(answering({ type: 'string' }));

describeLimits('Management operations', import.meta.filename, {
  'bytes of a body of a few fields': { is: bytes(SMALL_BODY_BYTES), ask: (size) => variable({}, size) },
  'bytes of a body of DNS records or a specification': { is: bytes(LARGE_BODY_BYTES), ask: (size) => zone([], size) },
  'arrival of the whole body': {
    is: milliseconds(BODY_DEADLINE_MS),
    elsewhere: 'a body of a management operation > that never ends is answered with 408 in the shape of the operation',
  },
  'values of a JSON body': { is: count(JSON_COST.values), ask: (values) => cost(`[${'1,'.repeat(values - 2)}1]`) },
  'keys of one object': {
    is: count(JSON_COST.keys),
    ask: (keys) => cost(JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, key) => [`k${key}`, 1])))),
  },
  'objects and lists inside one another': { is: count(JSON_COST.depth), ask: (depth) => cost('['.repeat(depth) + ']'.repeat(depth)) },
  'bytes of the bodies of 256 KiB and more that are read at a time': {
    is: bytes(MAX_LARGE_BODIES_BYTES),
    elsewhere: 'as many bodies as are allowed wait for the thread; one more is refused for now, and taken once they are read',
  },
  'variables of a script': { is: count(MAX_SCRIPT_VARIABLES), ask: variables },
  'characters of `Name` of a variable': { is: count(256), ask: (length) => variable({ Name: 'n'.repeat(length) }) },
  'characters of `DefaultValue`': { is: count(4_096), ask: (length) => variable({ DefaultValue: 'x'.repeat(length) }) },
  'records of a new DNS zone': {
    is: count(MAX_RECORDS),
    ask: (records) => zone(Array.from({ length: records }, (_, index) => ({ Name: `h${index}`, Value: '192.0.2.1' }))),
  },
  'variables of a DNS record': {
    is: count(MAX_RECORD_VARIABLES),
    ask: (length) => record({ EnviromentalVariables: Array.from({ length }, (_, index) => ({ Name: `N${index}`, Value: 'x' })) }),
  },
  'characters of `Comment` of a DNS record': { is: count(512), ask: (length) => record({ Comment: 'x'.repeat(length) }) },
  'bytes of `Value` of a TXT record': { is: bytes(MAX_TEXT_BYTES), ask: (length) => record({ Type: 3, Value: 'x'.repeat(length) }) },
  'characters of `Tag` of a DNS record': { is: count(15), ask: (length) => record({ Tag: 't'.repeat(length) }) },
  'characters of `LatencyZone` of a DNS record': { is: count(64), ask: (length) => record({ LatencyZone: 'z'.repeat(length) }) },
  'characters of the `Name` of a variable of a DNS record': {
    is: count(256),
    ask: (length) => record({ EnviromentalVariables: [{ Name: 'n'.repeat(length), Value: '' }] }),
  },
  'characters of the `Value` of a variable of a DNS record': {
    is: count(4_096),
    ask: (length) => record({ EnviromentalVariables: [{ Name: 'n', Value: 'x'.repeat(length) }] }),
  },
  '`Ttl` of a DNS record': { is: count(2_147_483_647), ask: (Ttl) => record({ Ttl }) },
  '`limit` of the nodes': { is: count(1_000), ask: async (limit) => outcomeOf(await ask(program, `/mc/nodes?limit=${limit}`)) },
  'bytes of a specification': { is: bytes(MAX_SPEC_BYTES), ask: (size) => specification(SPECIFICATION.padEnd(size)) },
  'endpoints of a specification': { is: count(GUARDIAN_LIMITS.maxEndpoints), ask: specificationWith.endpoints },
  'properties of one schema, or names of one of its other maps of schemas': {
    is: count(GUARDIAN_LIMITS.maxFieldsPerType),
    ask: specificationWith.properties,
  },
  'schemas inside one another, in any keyword of OpenAPI 3.0 or 3.1 that holds some': {
    is: count(GUARDIAN_LIMITS.maxNestingDepth),
    ask: specificationWith.nestedSchemas,
  },
  'schemas of all endpoints, every `$ref` written out, and of components and definitions': {
    is: count(GUARDIAN_LIMITS.maxTotalSchemaNodes),
    ask: specificationWith.schemas,
  },
  'characters of all patterns, names in `patternProperties` included': {
    is: count(GUARDIAN_LIMITS.maxTotalRegexLength),
    ask: specificationWith.patterns,
  },
  'values of a specification, aliases written out': { is: count(MAX_VALUES), ask: specificationWith.values },
  'objects and lists of a specification inside one another': { is: count(MAX_DEPTH), ask: specificationWith.nestedValues },
  'references that a reference goes on to': { is: count(MAX_HOPS), ask: specificationWith.references },
  'characters of all schemas written out': {
    is: count(MAX_WRITTEN_LENGTH),
    elsewhere: 'a bomb > of a long enumeration that is used many times is refused once too much is written',
  },
  'bytes of the state of the local control plane': {
    is: bytes(STATE_LIMIT_BYTES),
    within: 512 * 1024,
    past: 1024 * 1024,
    ask: stateGrownBy,
  },
  'age of a certificate challenge': {
    is: milliseconds(CHALLENGE_LIFETIME_MS),
    within: CHALLENGE_LIFETIME_MS - 1,
    past: CHALLENGE_LIFETIME_MS,
    ask: challengeAged,
  },
  'bytes of the file of a certificate challenge': { is: bytes(MAX_CHALLENGE_BYTES), ask: challengeFile },
  'time until an upstream takes the connection': {
    is: milliseconds(CONNECT_MS),
    elsewhere: 'an upstream that > takes a connection and never says a word of TLS ends in 504, long before the deadline of its answer',
  },
  'time until the headers of an answer of an upstream': {
    is: milliseconds(DEADLINES.headersMs),
    elsewhere: 'an upstream that > sends its headers byte by byte ends in %i, and the connections are whole afterwards',
  },
  'connections to an upstream': { is: count(CONNECTIONS), ask: connectionsTo },
  'bytes of an answer of an upstream': { is: bytes(MAX_UPSTREAM_ANSWER_BYTES), ask: upstreamAnswer },
  'bytes of all answers of upstreams that are on their way': { is: bytes(MAX_UPSTREAM_ANSWERS_BYTES), ask: answersOnTheirWay },
});
