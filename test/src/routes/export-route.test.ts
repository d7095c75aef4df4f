import { createGunzip, createZstdDecompress } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { openConnection } from '../http/raw-connection.ts';
import { type Answer, ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const PATH = '/shield/event-logs/7/export';
const COLUMNS = ['time', 'timestamp', 'logId', ...TEXT_FIELDS, 'log'];

const ALLOWED = `must be some of ${COLUMNS.join(', ')}, each once, with commas between`;

let app: RunningApp;

afterEach(() => app?.stop());

async function exported(body: string, headers: Readonly<Record<string, string>> = {}, path = PATH, asked = app): Promise<Answer> {
  return ask(asked, path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
}

type Record_ = Readonly<Record<string, string>>;

const csvRows = (text: string): Record_[] => parse(text, { columns: true, record_delimiter: '\r\n', relax_quotes: false });
const lines = (text: string) => text.split('\n').slice(0, -1);

async function metric(name: string): Promise<number> {
  const { text } = await ask(app, '/metrics');
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? Number.NaN,
  );
}

/** Events of a kilobyte and more that no connection's buffers swallow. */
async function fill(count: number, logBytes: number): Promise<void> {
  const body = 'x'.repeat(logBytes);
  for (let first = 0; first < count; first += 500) {
    const events = Array.from({ length: Math.min(500, count - first) }, (_, index) =>
      eventLine({ logId: `e${first + index}`, log: { body } }),
    );
    expect((await ingest(app, events.join(''))).status).toBe(202);
  }
}

describe('an export', () => {
  beforeEach(async () => {
    app = await startApp();
  });

  test('is CSV with a header row, lines that end in CR LF, and the name of a file that says what is in it', async () => {
    await ingest(app, eventLine({ logId: 'a', ip: '192.0.2.1', ua: '', ruleName: 'One, "two"', log: { n: 1 } }));
    const [from, to] = [Date.UTC(2026, 0, 1), Date.now()];
    const { status, headers, text } = await exported(lastHour());
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    const [header, row, rest] = text.split('\r\n');
    expect([header, rest]).toEqual([COLUMNS.join(','), '']);
    const cells = new Map([
      ['ruleName', '"One, ""two"""'],
      ['ip', '192.0.2.1'],
      ['ua', '""'],
    ]);
    const texts = TEXT_FIELDS.map((name) => cells.get(name) ?? '').join(',');
    expect(row?.replace(/^20\d\d-\d\d-\d\dT[\d:.]+Z,\d{13},/, '')).toBe(`a,${texts},"{""n"":1}"`);
    const [time, timestamp] = (row ?? '').split(',');
    expect(new Date(time ?? '').getTime()).toBe(Number(timestamp));
    expect(from < to).toBe(true);
    const name = /^attachment; filename="(shieldlog-zone-7-\d{8}T\d{6}Z-\d{8}T\d{6}Z\.csv)"$/.exec(
      headers.get('content-disposition') ?? '',
    );
    expect(name?.[1]).toBeDefined();
  });

  test('begins with a BOM where bom=true asks for one, and has the same columns', async () => {
    await ingest(app, eventLine({ logId: 'a', ua: 'é' }));
    // Reading the text of an answer drops a BOM.
    const [plain, without, marked] = await Promise.all(
      ['', '?bom=false', '?bom=true'].map(async (query) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json', accept: 'text/csv' }, body: lastHour() };
        return Buffer.from(await (await fetch(`${app.url}${PATH}${query}`, init)).arrayBuffer()).toString();
      }),
    );
    expect([without, marked]).toEqual([plain, `\ufeff${plain}`]);
  });

  test.each([
    ['?bom=true', 'application/x-ndjson', 'bom: must not be true for application/x-ndjson: only text/csv begins with a BOM'],
    ['?bom=yes', 'text/csv', 'bom: must be one of true, false, not "yes"'],
    ['?bom=', 'application/x-ndjson', 'bom: must be one of true, false, not ""'],
    ['?bom=true&bom=true', 'text/csv', 'bom: must be one of true, false, not 2 values'],
    ['?columns=', 'text/csv', `columns: ${ALLOWED}, not ""`],
    ['?columns=ip,', 'text/csv', `columns: ${ALLOWED}, not "ip,"`],
    ['?columns=ip,logId,ip', 'text/csv', `columns: ${ALLOWED}, not "ip,logId,ip"`],
    ['?columns=IP', 'text/csv', `columns: ${ALLOWED}, not "IP"`],
    ['?columns=shieldZoneId', 'text/csv', `columns: ${ALLOWED}, not "shieldZoneId"`],
    ['?columns=constructor', 'text/csv', `columns: ${ALLOWED}, not "constructor"`],
    ['?columns=ip&columns=log', 'text/csv', `columns: ${ALLOWED}, not 2 values`],
    ['?columns=ip', 'application/x-ndjson', 'columns: must not be there for application/x-ndjson: only text/csv has columns'],
  ])('refuses %s with %s, before the body is read', async (query, accept, message) => {
    const { status, text } = await exported('{', { accept }, `${PATH}${query}`);
    expect([status, JSON.parse(text).errorKey]).toEqual([400, 'request.invalid']);
    expect(text).toContain(JSON.stringify(message).slice(1, -1));
  });

  test('has the columns that are asked for, in their order', async () => {
    await ingest(app, eventLine({ logId: 'a', ip: '192.0.2.1', ua: '=x,y', log: { n: 1 } }));
    await ingest(app, eventLine({ logId: 'b', shieldZoneId: 8, timestamp: Date.now() - 120_000 }));
    const csv = async (columns: string, zones = '7') => {
      return (await exported(lastHour(), { accept: 'text/csv' }, `/shield/event-logs/${zones}/export?columns=${columns}`)).text;
    };
    expect(await csv('log,ua,ip,logId,country')).toBe(`log,ua,ip,logId,country\r\n"{""n"":1}","'=x,y",192.0.2.1,a,\r\n`);
    expect(await csv('logId')).toBe('logId\r\na\r\n');
    expect(await csv('logId,shieldZoneId', 'all')).toBe('logId,shieldZoneId\r\na,7\r\nb,8\r\n');
    expect(await csv('logId,shieldZoneId', '7,8')).toBe('logId,shieldZoneId\r\na,7\r\nb,8\r\n');
    expect(await csv(COLUMNS.join(','))).toBe((await exported(lastHour(), { accept: 'text/csv' })).text);
    expect(await csv('ua&bom=true')).toBe(`ua\r\n"'=x,y"\r\n`);
  });

  test('is NDJSON with bom=false, and passes other parameters over', async () => {
    const { status } = await exported(lastHour(), { accept: 'application/x-ndjson' }, `${PATH}?bom=false&x=1`);
    expect(status).toBe(200);
  });

  test('names the zone and the window to the second, whatever the zone', async () => {
    const to = Math.floor(Date.now() / 1000) * 1000;
    const { headers } = await exported(JSON.stringify({ from: to - 3_600_000, to }), {}, '/shield/event-logs/-5/export');
    const stamp = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    expect(headers.get('content-disposition')).toBe(`attachment; filename="shieldlog-zone--5-${stamp(to - 3_600_000)}-${stamp(to)}.csv"`);
  });

  test('has the rows of all pages of the search, as NDJSON to the byte', async () => {
    const events = Array.from({ length: 700 }, (_, index) =>
      eventLine({ logId: `e${index}`, ip: `10.0.0.${index % 9}`, log: { n: index } }),
    );
    await ingest(app, events.slice(0, 400).join(''));
    await app.store.settle('flush');
    await ingest(app, events.slice(400).join(''));
    const conditions = { query: 'e 10.0.0', filters: [{ field: 'ip', op: 'cidr', value: ['10.0.0.4/30'] }] };
    for (const rest of [{}, { ...conditions, query: null }, { filters: [{ field: 'ip', op: 'eq', value: ['10.0.0.8'] }] }]) {
      const window = JSON.parse(lastHour());
      const pages = [0, 1].map(async (page) => (await search(app, JSON.stringify({ ...window, ...rest, page, pageSize: 500 }))).body.rows);
      const rows = (await Promise.all(pages)).flat();
      const { headers, text } = await exported(JSON.stringify({ ...window, ...rest }), { accept: 'application/x-ndjson' });
      expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      expect(headers.get('content-disposition')).toMatch(/\.ndjson"$/);
      expect(lines(text).map((line) => JSON.parse(line))).toEqual(rows);
      const csv = csvRows((await exported(JSON.stringify({ ...window, ...rest }))).text);
      expect(csv.map(({ logId }) => logId)).toEqual(rows.map(({ logId }: { logId: string }) => logId));
    }
  });

  test('of nothing is the header alone, and no line of NDJSON', async () => {
    expect((await exported(lastHour())).text).toBe(`${COLUMNS.join(',')}\r\n`);
    const { status, text } = await exported(lastHour(), { accept: 'application/x-ndjson' });
    expect([status, text]).toEqual([200, '']);
  });

  test('loses no digit of an integer in the log', async () => {
    await ingest(app, eventLine({ logId: 'a' }).replace('"logId"', '"log":{"big":9007199254740993123},"logId"'));
    expect(csvRows((await exported(lastHour())).text)[0]?.['log']).toBe('{"big":9007199254740993123}');
    expect((await exported(lastHour(), { accept: 'application/x-ndjson' })).text).toContain('"log":{"big":9007199254740993123}');
  });

  test('gives hostile texts back to who reads CSV, but for the mark on formulas, and to who reads NDJSON', async () => {
    const hostile = HOSTILE_STRINGS.filter(({ text }) => text !== '' && Buffer.byteLength(text) <= 512);
    const events = hostile.map(({ text }) => eventLine({ logId: text, ua: text, ruleName: text, log: { text } }));
    expect((await ingest(app, events.join(''))).body.accepted).toBe(hostile.length);
    const records = new Map(csvRows((await exported(lastHour())).text).map((record) => [record['ua'], record]));
    const rows = lines((await exported(lastHour(), { accept: 'application/x-ndjson' })).text).map((line) => JSON.parse(line));
    const byId = new Map(rows.map((row) => [row.logId, row]));
    for (const { name, text } of hostile) {
      const cell = /^'*(?:[\t\r\n]|\s*[=+\-@])/.test(text) ? `'${text}` : text;
      expect(records.get(cell), name).toMatchObject({
        logId: cell,
        ua: cell,
        ruleName: cell,
        log: JSON.stringify({ text }),
      });
      expect(byId.get(text), name).toMatchObject({ fields: { ua: text, ruleName: text }, log: { text } });
    }
    expect([records.size, byId.size]).toEqual([hostile.length, hostile.length]);
  });

  test.each([
    ['gzip', createGunzip],
    ['zstd', createZstdDecompress],
  ] as const)('comes as %s where that is asked for', async (encoding, decoder) => {
    await fill(50, 1000);
    const body = lastHour();
    const plain = (await exported(body, { 'accept-encoding': 'identity' })).text;
    const socket = await openConnection(app);
    socket.write(
      `POST ${PATH} HTTP/1.0\r\nHost: localhost\r\n` +
        `Content-Type: application/json\r\nAccept-Encoding: ${encoding}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const head = answer.subarray(0, end).toString('latin1').toLowerCase();
    expect(head).toContain(`\r\ncontent-encoding: ${encoding}`);
    expect(head).toContain('\r\nvary: accept, accept-encoding');
    const decompressor = decoder();
    decompressor.end(answer.subarray(end + 4));
    let text = '';
    for await (const chunk of decompressor.setEncoding('utf8')) text += chunk;
    expect(text).toBe(plain);
  });

  test('leaves out what a clause of exclude matches, and keeps what lacks its field', async () => {
    const events = [
      { logId: 'a', country: 'DE' },
      { logId: 'b', country: 'CH' },
      { logId: 'c' },
      { logId: 'd', country: 'FR', ua: 'curl' },
    ];
    await ingest(app, events.slice(0, 2).map(eventLine).join(''));
    await app.store.settle('flush');
    await ingest(app, events.slice(2).map(eventLine).join(''));
    const exclude = [
      { field: 'country', op: 'in', value: ['de', 'it'] },
      { field: 'ua', op: 'wildcard', value: ['c*l'] },
    ];
    const rows = csvRows((await exported(lastHour({ exclude }))).text);
    expect(rows.map(({ logId }) => logId).toSorted()).toEqual(['b', 'c']);
  });

  test.each([
    ['7,-3', [-3, 7]],
    ['-3%2C7%2C7', [-3, 7]],
    ['all', [-3, 7, 8]],
    ['8,8', [8]],
  ])('of the zones %s says the zone of each row', async (zones, expected) => {
    await ingest(app, [7, -3, 8].map((zone) => eventLine({ logId: `of-${zone}`, shieldZoneId: zone, ip: '::1' })).join(''));
    const path = `/shield/event-logs/${zones}/export`;
    const { headers, text } = await exported(lastHour(), {}, path);
    expect(headers.get('content-disposition')).toMatch(expected.length > 1 ? /="shieldlog-zones-/ : /="shieldlog-zone-8-/);
    expect(text.split('\r\n', 1)).toEqual([['time', 'timestamp', 'logId', 'shieldZoneId', ...TEXT_FIELDS, 'log'].join(',')]);
    const rows = csvRows(text).map(({ logId, shieldZoneId, ip }) => [logId, shieldZoneId, ip]);
    // A cell that begins with a minus could be a formula.
    expect(rows.toSorted()).toEqual(expected.map((zone) => [`of-${zone}`, zone < 0 ? `'${zone}` : `${zone}`, '::1']).toSorted());
    const ndjson = lines((await exported(lastHour(), { accept: 'application/x-ndjson' }, path)).text).map((line) => JSON.parse(line));
    expect(ndjson.map((row) => Object.keys(row))).toEqual(expected.map(() => ['logId', 'timestamp', 'log', 'fields', 'shieldZoneId']));
    expect(ndjson.map(({ shieldZoneId }) => shieldZoneId).toSorted((a, b) => a - b)).toEqual(expected);
  });

  test('is counted', async () => {
    await fill(10, 10);
    await exported(lastHour());
    await exported(lastHour(), { accept: 'application/x-ndjson' });
    await eventually('both have ended', async () => (await metric('shieldlog_exports_under_way')) === 0);
    expect(await metric('shieldlog_exports_total{format="csv",outcome="sent"}')).toBe(1);
    expect(await metric('shieldlog_exported_events_total{format="ndjson"}')).toBe(10);
  });
});

describe('an export is refused with ProblemDetails', () => {
  let refusing: RunningApp;

  beforeAll(async () => {
    refusing = await startApp();
  });

  afterAll(() => refusing.stop());

  test.each([
    ['groups', { groupBy: ['ip'] }, 'groupBy'],
    ['a page', { page: 0 }, 'page'],
    ['a page size', { pageSize: null }, 'pageSize'],
    ['buckets', { buckets: 5 }, 'buckets'],
    ['what there is not', { limit: 5 }, 'limit'],
  ])('for %s: they are no property of it', async (_what, rest, field) => {
    const { status, body } = await exported(lastHour(rest), {}, PATH, refusing);
    expect([status, body.errorKey]).toEqual([400, 'request.invalid']);
    expect(body.errors).toEqual([{ field, message: 'is not a property of this object; allowed are from, to, query, filters, exclude' }]);
  });

  test.each([
    ['no window', 400, 'request.invalid', PATH, {}, '{}'],
    [
      'a window that ends before it begins',
      400,
      'request.invalid',
      PATH,
      {},
      JSON.stringify({ from: 1_790_000_000_001, to: 1_790_000_000_000 }),
    ],
    ['a body that is not JSON', 400, 'request.invalid', PATH, {}, '{"from":'],
    ['a body that is an array', 400, 'request.invalid', PATH, {}, '[]'],
    ['a filter that is wrong', 400, 'request.invalid', PATH, {}, lastHour({ filters: [{ field: 'ua', op: 'cidr', value: ['x'] }] })],
    ['a zone that is no number', 400, 'request.invalid', '/shield/event-logs/x/export', {}, lastHour()],
    ['a list with an empty zone', 400, 'request.invalid', '/shield/event-logs/7,/export', {}, lastHour()],
    [
      'an excluded clause that is wrong',
      400,
      'request.invalid',
      PATH,
      {},
      lastHour({ exclude: [{ field: 'ua', op: 'cidr', value: ['x'] }] }),
    ],
    ['a type that is not JSON', 415, 'body.unsupported_type', PATH, { 'content-type': 'text/csv' }, lastHour()],
    ['JSON, which it is not written as', 406, 'accept.none', PATH, { accept: 'application/json' }, lastHour()],
    ['no encoding', 406, 'accept.none', PATH, { 'accept-encoding': 'br, identity;q=0' }, lastHour()],
    ['a body past a mebibyte', 413, 'body.too_large', PATH, {}, lastHour({ query: 'x'.repeat(1024 * 1024) })],
  ])('for %s: %i %s', async (_what, status, errorKey, path, headers, body) => {
    const answer = await exported(body, headers, path, refusing);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8']);
    expect(answer.body).toMatchObject({ status, errorKey, instance: path });
  });

  test.each(['GET', 'HEAD'])('with %s: 405', async (method) => {
    const { status, headers } = await ask(refusing, PATH, { method });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });
});

test('an export is refused once the store is closed', async () => {
  app = await startApp();
  await app.store.close();
  const { status, body } = await exported(lastHour());
  expect([status, body.errorKey]).toEqual([503, 'program.stopping']);
});

test('a key opens the exports of its own zones only', async () => {
  app = await startApp({ env: { ACCESS_KEYS: `one:${'k'.repeat(20)}:7` } });
  const headers = { accesskey: 'k'.repeat(20) };
  expect((await exported(lastHour(), headers)).status).toBe(200);
  expect((await exported(lastHour(), headers, '/shield/event-logs/8/export')).body.errorKey).toBe('access.zone_denied');
  expect((await exported(lastHour())).body.errorKey).toBe('access.key_missing');
});

test('a key opens all of its own zones, and no list with another one', async () => {
  const [own, every] = ['k'.repeat(20), 'e'.repeat(20)];
  app = await startApp({ env: { ACCESS_KEYS: `two:${own}:7+8,every:${every}:*` } });
  await ingest(app, [7, 8, 9].map((zone) => eventLine({ logId: `of-${zone}`, shieldZoneId: zone })).join(''), { accesskey: every });
  const idsIn = async (zones: string, accesskey: string) =>
    csvRows((await exported(lastHour(), { accesskey }, `/shield/event-logs/${zones}/export`)).text)
      .map(({ logId }) => logId)
      .toSorted();
  expect(await idsIn('all', own)).toEqual(['of-7', 'of-8']);
  expect(await idsIn('all', every)).toEqual(['of-7', 'of-8', 'of-9']);
  const { status, body } = await exported(lastHour(), { accesskey: own }, '/shield/event-logs/7,9,8/export');
  expect([status, body.errorKey, body.detail]).toEqual([403, 'access.zone_denied', 'The access key does not open shield zone 9']);
});
