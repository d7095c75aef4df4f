import { describe, expect, it, test } from 'vitest';
import { LARGEST_MAPPING_BYTES, readYaml, WrongYaml } from '../../../ingest/mapping/yaml-tree.ts';
import { mapped, mappingOf, outcomeOf } from './mapped.ts';

function faultsOf(text: string): readonly string[] {
  try {
    mappingOf(text);
    return [];
  } catch (error) {
    if (!(error instanceof WrongYaml)) throw error;
    return error.faults;
  }
}

const TIME = 'timestamp: {path: t, time: unix}\n';

describe('a mapping file that is wrong names the line, the value and what is allowed', () => {
  const cases: [string, string | RegExp][] = [
    ['', 'line 1: the mapping is a text; allowed: preset, timezone'],
    ['- a', 'line 1: the mapping is a list; allowed: preset'],
    ['ua: a', 'line 1: timestamp is missing: a mapping without a time of its records makes no event'],
    ['timestamp: t', 'line 1: timestamp has no time; allowed: with each path the form, time: iso, unix, clf, '],
    [
      'timestamp: {first: [{path: a, time: iso}, b]}',
      'line 1: timestamp has no time; allowed: with each path the form, time: iso, unix, clf, ',
    ],
    ['ua: a\ntimestamp: {path: t, time: ctime}', 'line 2: timestamp has the form ctime, which has no zone; allowed: with timezone'],
    ['timestamp: {path: t, time: [iso, yyyy-MM-dd HH:mm:ss]}', 'line 1: timestamp has the form yyyy-MM-dd HH:mm:ss, which has no zone'],
    [
      `${TIME}time: x`,
      'line 2: "time" is not a member of a mapping; allowed: preset, timezone, absent, items, leaveOut, zone, id, timestamp',
    ],
    [`${TIME}timezone: Europe/Berlin`, 'line 2: timezone is "Europe/Berlin"; allowed: UTC, or an offset such as \'+02:00\''],
    [`${TIME}timezone: [UTC]`, 'line 2: timezone is a list; allowed: UTC'],
    [`preset: none\n${TIME}`, 'line 1: preset is "none"; allowed: aws-waf, '],
    [`${TIME}ua: a..b`, 'line 2: ua is "a..b"; allowed: a path: keys with points between them'],
    [`${TIME}ua: [a]`, 'line 2: ua is a list; allowed: a path, or a value with its words'],
    [`${TIME}ua: {path: a, const: b}`, 'line 2: ua has path and const; allowed: one of path, first, const, text'],
    [`${TIME}ua: {upper: true}`, 'line 2: ua has no source; allowed: one of path, first, const, text'],
    [`${TIME}ua: {path: a, regex: b}`, 'line 2: ua has "regex"; allowed: path, first, const, text, when'],
    [`${TIME}ua: {path: a, upper: false}`, 'line 2: upper of ua is "false"; allowed: true'],
    [`${TIME}ua: {path: a, upper: true, lower: true}`, 'line 2: upper of ua is "true"; allowed: lower or upper, not both'],
    [`${TIME}ua: {path: a, time: rfc822}`, 'line 2: time of ua is "rfc822"; allowed: iso, unix, clf, ctime, yyyy-MM-dd HH:mm:ss'],
    [`${TIME}ua: {path: a, decode: rot13}`, 'line 2: decode of ua is "rot13"; allowed: url, base64, gzip, json, or split:'],
    [`${TIME}ua: {path: a, decode: [{split: ''}]}`, 'line 2: decode of ua is a map; allowed: url'],
    [`${TIME}ua: {path: a, table: b}`, 'line 2: table of ua is "b"; allowed: texts, each with what it stands for, \'*\' for the rest'],
    [`${TIME}ua: {path: a, table: {b: [c]}}`, 'line 2: "b" in the table of ua is a list; allowed: a text, or null for none'],
    [`${TIME}ua: {path: a, when: b}`, 'line 2: when of ua is "b"; allowed: paths'],
    [`${TIME}ua: {path: a, when: {'b[': c}}`, 'line 2: when of ua is "b["; allowed: a path'],
    [`${TIME}ua: {path: a, when: {b: {c: d}}}`, 'line 2: when of ua is a map; allowed: a text, or a list of texts'],
    [`${TIME}ua: {const: null}`, 'line 2: const of ua is "null"; allowed: a text'],
    [`${TIME}ua: {text: 'a{b'}`, 'line 2: text of ua is "a{b"; allowed: in braces one of'],
    [`${TIME}ua: {text: '{}'}`, 'line 2: text of ua is "{}"; allowed: in braces one of'],
    [`${TIME}ua: {text: [a]}`, 'line 2: text of ua is a list; allowed: a text'],
    [`${TIME}items: 'a[b=c]'`, 'line 2: items is "a[b=c]"; allowed: a path with keys, [0] and [*] alone'],
    [`${TIME}items: {path: a, upper: true}`, 'line 2: items has "upper"; allowed: path, when, decode'],
    [`${TIME}items: {decode: gzip}`, 'line 2: items is a map; allowed: a path'],
    [`${TIME}zone: {const: eu}`, 'line 2: zone is "eu"; allowed: a number of -2147483648..2147483647'],
    [`${TIME}zone: {path: a, table: {b: 1, '*.c': 2147483648}}`, 'line 2: zone is "2147483648"; allowed'],
    [`${TIME}zone:\n  path: a\n  table:\n    b: 1\n    c: shop`, 'line 6: zone is "shop"; allowed: a number of'],
    [`${TIME}zone:\n  first:\n    - b\n    - {path: a, table: {'*': 1.5}}`, 'line 5: zone is "1.5"; allowed: a number of'],
    [`${TIME}leaveOut: {path: a, table: {b: yes}}`, 'line 2: leaveOut is "yes"; allowed: true or false'],
    [`${TIME}leaveOut: {first: [b, {const: 1}]}`, 'line 2: leaveOut is "1"; allowed: true or false'],
    [`${TIME}ua: {first: []}`, 'line 2: first of ua is a list; allowed: values, one at least'],
    [`${TIME}zone: 99999999999`, 'line 2: zone is "99999999999"; allowed'],
    [`${TIME}absent: {a: b}`, 'line 2: absent is a map; allowed: a text, or a list of texts'],
    [`${TIME}ua: a\nua: b`, 'line 3: the key "ua" is there twice; allowed: once'],
    [`${TIME}ua: &x a\nip: *x`, 'line 3: the alias *x is not allowed; allowed: what it stands for, written out'],
    [`${TIME}ua: !!str a`, 'line 2: the tag tag:yaml.org,2002:str is not allowed; allowed: no tags'],
    [`${TIME}ua: !js a`, /^line 2: Unresolved tag: !js/],
    [`${TIME}ua: [`, /^line 2: /],
    [`${TIME}---\n${TIME}`, 'line 2: a second YAML document begins here; allowed: one'],
    [`${TIME}? [a]\n: b`, 'line 2: a list is no key; allowed: a text'],
    [`${TIME}ua: ${'['.repeat(5000)}`, /^line 2: more than 20 levels inside one another/],
    [`${TIME}ua:\n  ${'- '.repeat(3000)}a`, /^line 3: more than 20 levels inside one another/],
    [`${TIME}${'? '.repeat(3000)}`, /^line 2: more than 20 levels inside one another/],
    [
      `${TIME}${Array.from({ length: 60 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')}`,
      /^line 22: more than 20 levels inside one another/,
    ],
  ];
  it.each(cases.map(([text, message]) => [text.slice(0, 80), text, message] as const))('%j', (_, text, message) => {
    const [first = 'no fault'] = faultsOf(text);
    if (typeof message === 'string') expect(first.slice(0, message.length)).toBe(message);
    else expect(first).toMatch(message);
  });

  it('names all that is wrong, in the order of the lines', () => {
    const faults = faultsOf('preset: x\nfoo: 1\nzone: {const: a}\nua: {path: a, upper: 1}\nip: [b]');
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(['line 1', 'line 1', 'line 2', 'line 3', 'line 4', 'line 5']);
  });
});

describe('a mapping that begins with a preset', () => {
  const record = '{"timestamp":1795838661558,"t":1795838661,"action":"BLOCK","httpRequest":{"clientIp":"192.0.2.1","requestId":"r"}}';

  it('changes the members that it names, and has the others', () => {
    const [one] = mapped(mappingOf('preset: aws-waf\nzone: 12\nfeature: {const: edge}\nid: t'), record);
    expect(outcomeOf(one)).toEqual({
      ...{ shieldZoneId: 12, timestamp: 1795838661558, logId: '1795838661', feature: 'edge', action: 'blocked', ip: '192.0.2.1' },
    });
  });

  it('takes away what it says is null', () => {
    const [one] = mapped(mappingOf('preset: aws-waf\nfeature: null\nip: ~\nid:\nitems: null\nleaveOut: null\nzone: null'), record);
    expect(outcomeOf(one)).toEqual({
      shieldZoneId: 7,
      timestamp: 1795838661558,
      logId: expect.stringMatching(/^[\da-f]{32}$/),
      action: 'blocked',
    });
  });

  it('may not lose its time', () => {
    expect(faultsOf('preset: aws-waf\ntimestamp: null')).toEqual([
      'line 2: timestamp is missing: a mapping without a time of its records makes no event',
    ]);
  });
});

it('takes texts as they are written, whatever YAML makes of them', () => {
  const mapping = mappingOf(`${TIME}ua: {path: a, table: {007: 0x10, 1.0: yes, true: 1e3, null: off}}`);
  const becomes = (a: string): unknown => outcomeOf(mapped(mapping, `{"t":1795838661,"a":${a}}`)[0]);
  expect(becomes('"007"')).toMatchObject({ ua: '0x10' });
  expect(becomes('"1.0"')).toMatchObject({ ua: 'yes' });
  expect(becomes('true')).toMatchObject({ ua: '1e3' });
  expect(becomes('"NULL"')).not.toHaveProperty('ua');
});

test('a mapping file that is too long is refused', () => {
  const ofBytes = (bytes: number): string => `${TIME}#${'ä'.repeat((bytes - TIME.length - 1) >> 1)}`;
  expect(faultsOf(ofBytes(LARGEST_MAPPING_BYTES))).toEqual([]);
  expect(faultsOf(ofBytes(LARGEST_MAPPING_BYTES + 2))).toEqual(['line 1: the file has 1048578 bytes: at most 1048576 are allowed']);
});

describe('levels inside one another', () => {
  const [open, closed] = ['[{'.repeat(50), ']'.repeat(21)];
  it.each([
    ['single quotes', `ua: {const: '${open}'}`],
    ['double quotes', `ua: {const: "a \\"${open}"}`],
    ['quotes over lines', `ua: {const: '${open}\n  ${open}'}`],
    ['a text without quotes', `ua:\n  const: a${open}`],
    ['a block', `ua:\n  const: |\n    ${open}\n    ${'- '.repeat(50)}`],
    ['a comment', `ua: {const: a} # ${open}\n  # ${open}`],
  ])('are none of the brackets in %s', (_, text) => {
    expect(faultsOf(`${TIME}${text}`)).toEqual([]);
  });

  it.each([
    ['of brackets', '['.repeat(20) + closed.slice(1), '['.repeat(21) + closed],
    ['of braces', `${'{a: '.repeat(19)}b${'}'.repeat(19)}`, `${'{a: '.repeat(20)}b${'}'.repeat(20)}`],
    ['of lists', `${'- '.repeat(19)}a`, `${'- '.repeat(20)}a`],
    ['with brackets that are closed between them', `[${'[[]], '.repeat(100)}]`, `[${'[[]], '.repeat(100)}${'['.repeat(20)}${closed}`],
  ])('%s are twenty at most', (_, most, more) => {
    expect(() => readYaml(most)).not.toThrow();
    expect(() => readYaml(more)).toThrow('line 1: more than 20 levels inside one another; allowed: at most so many');
  });
});

describe('a hostile mapping file', () => {
  const numbers = (count: number): string => [...Array(count).keys()].join();
  const bomb = Array.from({ length: 20 }, (_, level) => `b${level}: &b${level} [${Array(9).fill(`*b${level - 1}`)}]`).join('\n');
  it.each<[name: string, text: string, fault: string | null]>([
    ['aliases of aliases', `b-1: &b-1 [x]\n${bomb}`, 'line 2: the alias *b-1 is not allowed'],
    ['an alias of itself', 'ua: &a [*a]', 'line 1: the alias *a is not allowed'],
    ['a merged anchor', 'x: &x {ua: a}\n<<: *x', 'line 2: the alias *x is not allowed'],
    ['a preset that is itself', 'preset: own', 'line 1: preset is "own"; allowed: aws-waf, '],
    ['a preset that is a list of presets', 'preset: [aws-waf, nginx]', 'line 1: preset is a list; allowed: aws-waf, '],
    [
      '20,000 unknown members',
      `${TIME}${[...Array(20_000).keys()].map((index) => `k${index}: 1`).join('\n')}`,
      'line 2: "k0" is not a member',
    ],
    ['20,000 lines of tabs', `${TIME}${'\t- x\n'.repeat(20_000)}`, 'line 2: Tabs are not allowed as indentation'],
    ['20,000 empty keys', `${TIME}${'?\n'.repeat(20_000)}`, 'line 3: the key "" is there twice'],
    ['a path of 100,000 steps', `${TIME}ua: ${'a.'.repeat(100_000)}a`, 'line 2: ua is "a.a.a.'],
    ['a key that does not end', `${TIME}ua: '"${'a'.repeat(100_000)}'`, 'line 2: ua is "\\"aaa'],
    ['100,000 braces in a text', `${TIME}ua: {text: '${'{'.repeat(100_000)}'}`, 'line 2: text of ua is "{{{'],
    ['100,000 signs of a tag', `${TIME}ua: ${'!'.repeat(100_000)}`, 'line 2: '],
    ['NUL', '\0'.repeat(100), 'line 1: '],
    ['150,000 texts that count as absent', `${TIME}absent: [${numbers(150_000)}]`, null],
    ['a condition of 150,000 texts', `${TIME}ua: {const: a, when: {t: [${numbers(150_000)}]}}`, null],
    ['an item that is none of 150,000', `${TIME}ua: 'a[id!=${numbers(150_000)}].b'`, null],
    ['the first of 50,000 values', `${TIME}ua: {first: [${Array(50_000).fill('a')}]}`, null],
    ['a text of 50,000 paths', `${TIME}ua: {text: '${'{a}'.repeat(50_000)}'}`, null],
    [
      'an object of JavaScript as a member',
      `${TIME}__proto__: {ua: a}\nconstructor: a`,
      'line 2: "__proto__" is not a member of a mapping',
    ],
    ['an object of JavaScript as a word', `${TIME}ua: {path: a, __proto__: b}`, 'line 2: ua has "__proto__"; allowed: path'],
    ['an object of JavaScript as a preset', 'preset: constructor', 'line 1: preset is "constructor"; allowed: aws-waf, '],
  ])('with %s has a fault, or is one that maps', (_, text, fault) => {
    const [first = null] = faultsOf(text);
    if (fault === null) expect(first).toBeNull();
    else expect(first?.slice(0, fault.length)).toBe(fault);
    if (fault === null) expect(mapped(mappingOf(text), '{"t":1795838661558,"a":"x"}')).toMatchObject([{ kind: 'event' }]);
  });
});
