import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { digestId } from '../../../ingest/event/log-id.ts';
import { MOST_LAYERS, MOST_UNPACKED_OF_ITEMS, UNPACKED_TIMES } from '../../../ingest/mapping/record-mapper.ts';
import { logOf, mapped, mappingOf, NOW, outcomeOf, verdictOf, ZONES } from './mapped.ts';

const TIME = 'timestamp: {path: t, time: [unix, iso]}\n';
const T = '"t":1795838661558';

describe('the time of a record', () => {
  it.each([
    ['1795838661558', NOW_MS(558)],
    ['1795838661', NOW_MS(0)],
    ['1795838661.558', NOW_MS(558)],
    ['"1795838661.558"', NOW_MS(558)],
    ['1795838661558123456', NOW_MS(558)],
    ['"1795838661558123456"', NOW_MS(558)],
    ['1.795838661558e12', NOW_MS(558)],
    ['"2026-11-28T04:04:21.5581234Z"', NOW_MS(558)],
    ['null', 'rejected: timestamp is absent: the record has no time where the mapping looks for it'],
    ['"-"', 'rejected: timestamp is absent: the record has no time where the mapping looks for it'],
    ['[]', 'rejected: timestamp is absent: the record has no time where the mapping looks for it'],
    ['true', 'rejected: timestamp is "true": a time in the form unix (1795678975) or iso (2026-11-28T04:28:10Z, with a zone) is required'],
    ['-5', 'rejected: timestamp is "-5": a time in the form unix (1795678975) or iso (2026-11-28T04:28:10Z, with a zone) is required'],
    [
      '"soon"',
      'rejected: timestamp is "soon": a time in the form unix (1795678975) or iso (2026-11-28T04:28:10Z, with a zone) is required',
    ],
    ['{"s":1}', 'rejected: timestamp is an object with "s": a text, a number, true or false is required'],
    [
      '1e400',
      'rejected: timestamp is "1e400": a time in the form unix (1795678975) or iso (2026-11-28T04:28:10Z, with a zone) is required',
    ],
  ])('%s', (time, wanted) => {
    const outcome = outcomeOf(mapped(mappingOf(TIME), `{"t":${time}}`)[0]);
    expect(typeof outcome === 'string' ? outcome : outcome['timestamp']).toBe(wanted);
  });

  it('that our intake refuses makes a letter of the record', () => {
    const [one] = mapped(mappingOf(TIME), `{"t":${NOW + 3_600_000}}`);
    expect(outcomeOf(one)).toMatch(/^rejected: timestamp is \d+: at most 10 minutes after now/);
  });
});

function NOW_MS(ms: number): number {
  return 1_795_838_661_000 + ms;
}

describe('the id of a record', () => {
  const idOf = (members: string, record: string): unknown => {
    const [one] = mapped(mappingOf(`${TIME}${members}`), record);
    const { logId } = outcomeOf(one) as Record<string, unknown>;
    return one?.kind === 'event' && logId === digestId(one.record) ? 'of the record' : logId;
  };

  it.each([
    ['id: a', '"a":"x"', 'x'],
    ['id: [a, b]', '"a":"x","b":0', 'x-0'],
    ['id: [a, b]', '"a":"x","b":0.0', 'x-0.0'],
    ['id: [a, b]', '"a":"x"', 'of the record'],
    ['id: [a, {first: [b, {const: none}]}]', '"a":"x"', 'x-none'],
    ['id: a', '"a":12345678901234567890', '12345678901234567890'],
    ['id: a', '"a":"null"', 'of the record'],
    ['id: a', '"a":"x\\ud800"', 'of the record'],
    ['id: a', '"a":"x\\ufffd"', 'of the record'],
    ['ua: a', '"a":"x"', 'of the record'],
  ])('by %s of {%s}', (members, record, id) => {
    expect(idOf(members, `{${T},${record}}`)).toBe(id);
  });

  it('is over the bytes of the record without what is around it, whatever its zone is', () => {
    const mapping = mappingOf(TIME);
    const ids = ['{"t":1795838661558}', ' \r\n{"t":1795838661558}\n', '\ufeff{"t":1795838661558}'].map((text) =>
      outcomeOf(mapped(mapping, text)[0]),
    );
    const [other] = mapped(mapping, '{"t":1795838661558}', { ...ZONES, given: 9 });
    expect(new Set([...ids, outcomeOf(other)].map((one) => (one as Record<string, unknown>)['logId']))).toEqual(
      new Set([digestId(Buffer.from('{"t":1795838661558}'))]),
    );
  });

  it('that is longer than an id may be makes a letter', () => {
    expect(outcomeOf(mapped(mappingOf(`${TIME}id: a`), `{${T},"a":"${'x'.repeat(600)}"}`)[0])).toMatch(
      /^rejected: logId is ".*", which has 600 bytes/,
    );
  });
});

describe('the zone of a record', () => {
  const BY_HOST = `${TIME}zone: {path: host, table: {a.example.com: 3, b.example.com: 4}}`;
  const NONE = 'the record has no zone: the mapping names none';
  it.each([
    [BY_HOST, '"host":"A.example.com"', {}, 3],
    [BY_HOST, '"host":"A.example.com"', { given: 9 }, 9],
    [BY_HOST, '"host":"c.example.com"', { fallback: 7 }, 7],
    [BY_HOST, '"host":"c.example.com"', {}, `rejected: ${NONE} for "c.example.com", and no other is given for all records`],
    [BY_HOST, '"a":1', {}, `rejected: ${NONE}, and no other is given for all records`],
    [TIME, '"a":1', {}, `rejected: ${NONE}, and no other is given for all records`],
    [`${TIME}zone: 5`, '"a":1', { fallback: 7 }, 5],
    [`${TIME}zone: {path: z}`, '"z":-2', {}, -2],
    [`${TIME}zone: {path: z}`, '"z":"12x"', {}, 'rejected: zone is "12x": a number of -2147483648..2147483647 is required'],
    [
      BY_HOST,
      '"host":"b.example.com"',
      { opens: (zone: number) => zone === 3 },
      'rejected: the record is of shield zone 4 for "b.example.com", which the access key does not open',
    ],
    [`${TIME}zone: {first: [{path: host, table: {a: 1}}, {const: 2}]}`, '"host":"b"', {}, 2],
    [
      `${TIME}zone: {first: [{path: x, table: {a: 1}}, {path: host, table: {a: 1}}]}`,
      '"host":"b"',
      {},
      `rejected: ${NONE} for "b", and no other is given for all records`,
    ],
  ])('%s of {%s} with %j', (members, record, zones, wanted) => {
    const [one] = mapped(mappingOf(members), `{${T},${record}}`, { given: null, fallback: null, opens: () => true, ...zones });
    const outcome = outcomeOf(one);
    expect(typeof outcome === 'string' ? outcome : outcome['shieldZoneId']).toBe(wanted);
    if (typeof outcome === 'string') expect(one).toMatchObject({ zoneId: null });
  });

  it('stands beside another reason', () => {
    expect(mapped(mappingOf(`${TIME}zone: 5`), '{"a":1}')).toMatchObject(
      [{ kind: 'rejected', zoneId: 5, reason: /^timestamp is absent/ }].map(({ reason: _, ...one }) => one),
    );
    expect(mapped(mappingOf(TIME), 'no JSON', { ...ZONES, given: 9 })).toMatchObject([{ kind: 'rejected', zoneId: 9 }]);
  });
});

describe('what is left out', () => {
  it.each([
    ['{path: kind, table: {alert: false, "*": true}}', '"kind":"alert"', false],
    ['{path: kind, table: {alert: false, "*": true}}', '"kind":"stats"', true],
    ['{path: kind, table: {alert: false, "*": true}}', '"a":1', false],
    ['{first: [{when: {rules: "*"}, const: "false"}, {const: "true"}]}', '"rules":[]', true],
    ['{first: [{when: {rules: "*"}, const: "false"}, {const: "true"}]}', '"rules":["a"]', false],
    ['total', '"total":true', true],
    ['total', '"total":"TRUE"', true],
    ['total', '"total":1', false],
  ])('%s of {%s}', (leaveOut, record, isLeftOut) => {
    expect(mapped(mappingOf(`${TIME}leaveOut: ${leaveOut}`), `{${T},${record}}`)[0]?.kind).toBe(isLeftOut ? 'leftOut' : 'event');
  });

  it('needs no time', () => {
    expect(mapped(mappingOf(`${TIME}leaveOut: total`), '{"total":true}')).toMatchObject([{ kind: 'leftOut' }]);
  });

  it('cannot be said by a list', () => {
    expect(outcomeOf(mapped(mappingOf(`${TIME}leaveOut: total`), `{${T},"total":[1]}`)[0])).toMatch(/^rejected: leaveOut is a list of 1/);
  });
});

const RECORD = `{${T}, "n":1.0 ,"a":[1,{"b":"é"}]}`;

describe.each(['message', 'log', 'event', 'payload'])('a record that a shipper wrapped in %s', (name) => {
  it.each([
    ['an object', RECORD],
    ['JSON text', JSON.stringify(RECORD)],
    ['JSON text with a line end', JSON.stringify(`${RECORD}\n`)],
    ['an object in an object', `{"host":"h","${name}":${RECORD}}`],
    ['JSON text in an object', `{"message":${JSON.stringify(RECORD)}}`],
    ['JSON text in JSON text', JSON.stringify(`{"log":${JSON.stringify(RECORD)}}`)],
  ])('as %s is kept as it was written', (_, written) => {
    const found = mapped(mappingOf(`${TIME}ua: a[1].b\nid: n`), `{"@timestamp":"2026-11-28T04:04:21Z","${name}":${written},"tags":[]}`);
    expect(found.map(outcomeOf)).toMatchObject([{ timestamp: NOW_MS(558), ua: 'é', logId: '1.0' }]);
    expect(found.map(logOf)).toEqual([RECORD]);
  });

  it.each(['12', '"text"', '"{no json"', '"[1]"', '[{"t":1795838661558}]', 'null', '{}', '"{}"'])('is no record: %s', (written) => {
    expect(mapped(mappingOf(TIME), `{"${name}":${written}}`).map(outcomeOf)).toEqual([
      'rejected: timestamp is absent: the record has no time where the mapping looks for it',
    ]);
  });

  it('is not looked for where the record has a time', () => {
    expect(mapped(mappingOf(TIME), `{${T},"${name}":{"t":1}}`).map(outcomeOf)).toMatchObject([{ timestamp: NOW_MS(558) }]);
  });

  it('is looked for where the time is in no form of the mapping', () => {
    expect(mapped(mappingOf(TIME), `{"t":"now","${name}":${RECORD}}`).map(outcomeOf)).toMatchObject([{ timestamp: NOW_MS(558) }]);
  });

  it('is asked for what leaves it out, and taken apart', () => {
    const mapping = mappingOf(`${TIME}leaveOut: total\nitems: records`);
    expect(mapped(mapping, `{"${name}":{"total":true}}`)).toMatchObject([{ kind: 'leftOut' }]);
    expect(mapped(mapping, `{"${name}":{"records":[${RECORD},${RECORD}]}}`).map(logOf)).toEqual([RECORD, RECORD]);
  });
});

test('a record is taken out of so many layers at most', () => {
  const nested = (layers: number): string => '{"log":'.repeat(layers) + RECORD + '}'.repeat(layers);
  expect(mapped(mappingOf(TIME), nested(MOST_LAYERS))).toMatchObject([{ kind: 'event' }]);
  expect(mapped(mappingOf(TIME), nested(MOST_LAYERS + 1))).toMatchObject([{ kind: 'rejected' }]);
});

describe('an envelope', () => {
  const base64 = (text: string): string => JSON.stringify(Buffer.from(text).toString('base64'));
  const zipped = (text: string | Uint8Array): string => JSON.stringify(gzipSync(text).toString('base64'));
  const NO_TIME = 'rejected: timestamp is absent: the record has no time where the mapping looks for it';
  const letter = (reason: string): string => `rejected: ${reason}`;

  it.each<[string, string, readonly unknown[]]>([
    ['records', `[${RECORD}]`, [RECORD]],
    ['records', `[ ${RECORD} , ${RECORD} ]`, [RECORD, RECORD]],
    ['records', `[${JSON.stringify(RECORD)}]`, [RECORD]],
    ['records', '[]', ['left out']],
    ['records', `[{"x":1},${RECORD}]`, [NO_TIME, RECORD]],
    [
      'records',
      `[3,null,"x",[1],${RECORD}]`,
      [
        letter('the record is 3: a JSON object is required'),
        letter('the record is null: a JSON object is required'),
        letter('the record is not JSON: unexpected "x" at byte 0'),
        letter('the record is [1]: a JSON object is required'),
        RECORD,
      ],
    ],
    ['records', `[{"message":${JSON.stringify(RECORD)}}]`, [RECORD]],
    ['records', `[{"records":[${RECORD}]}]`, [RECORD]],
    [
      '{path: records, decode: base64}',
      `[${base64(RECORD)},"?",${base64('x')}]`,
      [RECORD, letter('an item of records is "?": base64 is required'), letter('the record is not JSON: unexpected "x" at byte 0')],
    ],
    ['{path: records, decode: [base64, gzip, json]}', `[${zipped(RECORD)},${base64(RECORD)}]`, [RECORD, RECORD]],
    ['{path: records, decode: [base64, {split: "\\n"}]}', `[${base64(`${RECORD}\n${RECORD}`)}]`, [RECORD, RECORD]],
    [
      '[other, {path: "records[*].data", decode: [base64, gzip]}]',
      `[{"data":${zipped(RECORD)}},{"data":${base64(RECORD)}}]`,
      [RECORD, RECORD],
    ],
    ['"records[*].m"', `[{"m":${RECORD}},{"n":1}]`, [RECORD]],
    [
      '{path: records, decode: [base64, gzip]}',
      `[${zipped(new Uint8Array(1024 * 1024 + 1))},${zipped(RECORD)}]`,
      [letter('an item of records has more than 1048576 bytes unpacked, which are allowed for one record'), RECORD],
    ],
  ])('with items: %s of %#', (items, list, wanted) => {
    const found = mapped(mappingOf(`${TIME}items: ${items}`), `{"records":${list}}`);
    expect(found.map((one) => (one.kind === 'event' ? logOf(one) : outcomeOf(one)))).toEqual(wanted);
  });

  it('is one only where its conditions hold', () => {
    const mapping = mappingOf(`${TIME}items: {path: records, when: {kind: data}}\nleaveOut: {path: kind, table: {control: 'true'}}`);
    expect(mapped(mapping, `{"kind":"Data","records":[${RECORD}]}`).map(logOf)).toEqual([RECORD]);
    expect(mapped(mapping, `{"kind":"control","records":["hello"]}`)).toMatchObject([{ kind: 'leftOut' }]);
  });

  it('may have one text', () => {
    const mapping = mappingOf(`${TIME}items: {path: message.data, decode: base64}\nleaveOut: {first: [n, {const: 'true'}]}`);
    expect(mapped(mapping, `{"message":{"data":${base64(RECORD)}}}`).map(logOf)).toEqual([RECORD]);
  });

  test('unpacks so much of all items at most', () => {
    const mapping = mappingOf(`${TIME}items: {path: records, decode: [base64, gzip]}`);
    const refused = (sizes: readonly number[], paddedTo = MOST_UNPACKED_OF_ITEMS / UNPACKED_TIMES): readonly number[] => {
      const list = [...sizes.map((size) => zipped(Buffer.alloc(size, ' '))), zipped(RECORD)];
      const found = mapped(mapping, `{"records":[${list.join()}]}`.padStart(paddedTo).replace(/^( +){/, '{$1')).map(outcomeOf);
      return found.flatMap((one, index) => (/bytes unpacked/.test(String(one)) ? [index] : []));
    };
    const most = MOST_UNPACKED_OF_ITEMS / 2 ** 20;
    expect(refused(Array(most - 1).fill(2 ** 20 - 2_000))).toEqual([]);
    expect(refused(Array(2 * most).fill(2 ** 19)).at(0)).toBe(2 * most - 1);
    // What is too much for one record counts as all that a record may have.
    expect(refused(Array(most - 1).fill(2 ** 21))).toEqual([...Array(most - 1).keys()]);
    expect(refused(Array(most).fill(2 ** 21))).toEqual([...Array(most + 1).keys()]);
    // Of a small envelope, as much as of two records, and of a larger one so many times its bytes.
    expect(refused(Array(5).fill(2 ** 19), 0)).toEqual([3, 4, 5]);
    expect(refused(Array(9).fill(2 ** 19), 2 ** 16)).toEqual([7, 8, 9]);
  });

  it('with very many items goes to whoever takes them one by one', () => {
    const found = mapped(mappingOf(`${TIME}items: records`), `{"records":[${'1,'.repeat(100_000)}1]}`);
    expect(found).toHaveLength(100_001);
  });
});

describe('bytes that are no record', () => {
  it.each([
    ['', 'rejected: the record is not JSON: it ends in the middle, after 0 bytes'],
    ['x', 'rejected: the record is not JSON: unexpected "x" at byte 0'],
    ['{"t":', 'rejected: the record is not JSON: it ends in the middle, after 5 bytes'],
    ['[1]', 'rejected: the record is [1]: a JSON object is required'],
    ['"t"', 'rejected: the record is "t": a JSON object is required'],
    ['{"t":1}{"t":2}', /^rejected: the record is not JSON: unexpected/],
    [`{${T},"a":"${'x'.repeat(1024 * 1024)}"}`, /^rejected: the record has 104\d+ bytes: at most 1048576 are allowed$/],
    [`{${T},"a":${'['.repeat(1001)}${']'.repeat(1001)}}`, 'rejected: the event nests deeper than 1000 levels'],
    [
      `{${T},"n":12345678901234567890,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'rejected: the event nests deeper than 1000 levels',
    ],
    [`{"a":${'['.repeat(500_000)}`, 'rejected: the record nests deeper than 1000 levels'],
  ])('%#', (text, reason) => {
    const outcome = outcomeOf(mapped(mappingOf(`${TIME}ua: n`), text)[0]);
    if (typeof reason === 'string') expect(outcome).toBe(reason);
    else expect(outcome).toMatch(reason);
  });

  it('with bytes that are no UTF-8 are repaired as those of any event', () => {
    const bytes = Buffer.concat([Buffer.from(`{${T},"a":"x`), Buffer.from([0xff]), Buffer.from('"}')]);
    const [one] = mapped(mappingOf(`${TIME}ua: a\nid: a`), bytes);
    expect(one).toMatchObject({ kind: 'event', hasOwnId: false });
    expect(outcomeOf(one)).toMatchObject({ ua: 'x\ufffd', logId: digestId(bytes) });
    expect(one?.kind === 'event' && verdictOf(one.event)).toEqual({ kind: 'accepted', isRepaired: true });
  });

  it('of the greatest length are one all the same', () => {
    const record = (length: number): string => `{${T},"a":"${'x'.repeat(length - `{${T},"a":""}`.length)}"}`;
    const mapping = mappingOf(`${TIME}ua: a`);
    expect(mapped(mapping, record(1024 * 1024)).map(outcomeOf)).toMatchObject([
      expect.stringMatching(/^rejected: the log has|beside its log/),
    ]);
    expect(mapped(mappingOf(TIME), record(1024 * 1024)).map(outcomeOf)).toMatchObject([{ timestamp: NOW_MS(558) }]);
    expect(mapped(mappingOf(TIME), record(1024 * 1024 + 1)).map(outcomeOf)).toEqual([
      'rejected: the record has 1048577 bytes: at most 1048576 are allowed',
    ]);
  });
});
