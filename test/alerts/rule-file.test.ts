import { describe, expect, test } from 'vitest';
import { versionOf } from '../../alerts/rule.ts';
import { RULE_LIMITS, readRule } from '../../alerts/rule-file.ts';
import { WrongYaml } from '../../ingest/mapping/yaml-tree.ts';

const LEAST = 'name: logins\nzones: all\nkind: count\nat_least: 100\nwindow: 5m\n';

function faultsOf(text: string): readonly string[] {
  try {
    readRule(text);
    return [];
  } catch (error) {
    if (!(error instanceof WrongYaml)) throw error;
    return error.faults;
  }
}

describe('a rule', () => {
  test('needs a name, zones, a kind with its number and a window, and has defaults for the rest', () => {
    expect(readRule(LEAST)).toEqual({
      name: 'logins',
      zones: 'all',
      search: { query: '', filters: [], exclude: [] },
      where: { kind: 'everything' },
      by: [],
      kind: { kind: 'count', atLeast: 100 },
      windowMs: 300_000,
      quietMs: 1_800_000,
      hold: 1,
      lateMs: 86_400_000,
      maxGroups: 5_000,
      maxAgeMs: 3_600_000,
      severity: 'medium',
      labels: {},
      receivers: [],
    });
  });

  test('has all that its file says', () => {
    const text = `
name: one-address-many-pages
zones: [8, 7, -1]
search: action:blocked -country:NL
by: [ip, shieldZoneId]
kind: distinct
field: url
at_least: 10000
window: 24h
quiet: 90s
hold: 3
late: 2d
max_groups: 500000
max_age: 10m
severity: critical
labels: {team: edge, level: 1}
receivers: soc
`;
    expect(readRule(text)).toMatchObject({
      name: 'one-address-many-pages',
      zones: [-1, 7, 8],
      where: { kind: 'all', of: [{ kind: 'equals', column: 'action' }, { kind: 'not' }] },
      by: ['ip', 'shieldZoneId'],
      kind: { kind: 'distinct', field: 'url', atLeast: 10_000 },
      ...{ windowMs: 86_400_000, quietMs: 90_000, hold: 3, lateMs: 172_800_000, maxGroups: 500_000, maxAgeMs: 600_000 },
      ...{ severity: 'critical', labels: { team: 'edge', level: '1' }, receivers: ['soc'] },
    });
  });

  const of = (members: string) => readRule(`name: a\nzones: all\n${members}\n`);

  test.each([
    ['kind: ratio\nsearch: url:~login\npart: action:blocked\nshare: 0.5%\nat_least: 20\nwindow: 5m', { share: 50, atLeast: 20 }],
    ['kind: more_than_before\nat_least: 20\ntimes: 2.5\nwindow: 1h', { atLeast: 20, times: 250, before: 12 }],
    ['kind: more_than_before\nat_least: 20\ntimes: 3\nbefore: 100\nwindow: 1h', { atLeast: 20, times: 300, before: 100 }],
    ['kind: new_value\nfield: country', { field: 'country', forMs: 259_200_000 }],
    ['kind: new_value\nfield: country\nfor: 1h', { field: 'country', forMs: 3_600_000 }],
    ['kind: silence\nfor: 15m', { forMs: 900_000 }],
  ])('of another kind has its numbers: %j', (members, kind) => {
    expect(of(members).kind).toMatchObject(kind);
  });

  test('has its conditions as they are written, too', () => {
    const clause = { field: 'action', op: 'eq', value: ['blocked'] };
    expect(of('kind: count\nat_least: 1\nwindow: 5m\nsearch: action:blocked login').search).toEqual({
      query: 'login',
      filters: [clause],
      exclude: [],
    });
    expect(of(`kind: count\nat_least: 1\nwindow: 5m\nsearch: {filters: [${JSON.stringify(clause)}]}`).search).toEqual({
      ...{ query: '', filters: [clause], exclude: [] },
    });
    expect(of('kind: ratio\npart: action:blocked\nshare: 1%\nat_least: 1\nwindow: 5m')).toMatchObject({
      ...{ where: { kind: 'everything' }, kind: { part: { kind: 'equals', column: 'action' } } },
    });
  });

  test.each([
    ['kind: new_value\nfield: country', ['shieldZoneId', 'country']],
    ['kind: silence\nfor: 15m', ['shieldZoneId']],
  ])('whose window is a minute has groups of its own: %j', (members, by) => {
    expect(of(members)).toMatchObject({ by, windowMs: 60_000, hold: 1 });
  });

  test.each([
    ['a line', 'search: action:blocked,challenged'],
    ['its members', 'search: {filters: [{field: action, op: in, value: [blocked, challenged]}]}'],
    [
      'members over several lines',
      'search:\n  query: null\n  filters:\n    - field: action\n      op: in\n      value: [blocked, challenged]',
    ],
  ])('takes a search as %s, which decides the same', (_form, search) => {
    const spelled = readRule(`${LEAST}search: "action:blocked,challenged"\n`);
    expect(versionOf(readRule(`${LEAST}${search}\n`))).toBe(versionOf(spelled));
  });
});

test.each([
  ['# a comment', true],
  ['severity: high', true],
  ['labels: {team: edge}', true],
  ['receivers: [soc]', true],
  ['quiet: 1800s', true],
  ['quiet: 31m', false],
  ['hold: 2', false],
  ['late: 1h', false],
  ['max_groups: 5001', false],
  ['by: ip', false],
  ['search: login', false],
])('the version of a rule with "%s" is the same: %s', (line, isSame) => {
  const [usual, other] = [LEAST, `${LEAST}${line}\n`].map((text) => versionOf(readRule(text)));
  expect(usual).toMatch(/^[0-9a-f]{64}$/);
  expect(other === usual).toBe(isSame);
});

test.each([
  ['e55af48d40fde351', 'kind: count\nat_least: 3\nwindow: 5m\nby: [ip, country]'],
  ['ebf71ad5baafd43a', 'kind: distinct\nfield: url\nat_least: 4\nwindow: 5m'],
  ['05d9c0edf91aa3ca', 'kind: ratio\npart: ip:192.0.2.0/24\nshare: 5%\nat_least: 20\nwindow: 5m'],
  ['cf949d4ffe7626b3', 'kind: more_than_before\nat_least: 20\ntimes: 2.5\nbefore: 7\nwindow: 1h'],
  ['52f8814e1f94642c', 'kind: new_value\nfield: country\nfor: 2h'],
])('the version of a kind stays what it is, as else all of its alerts would be resolved: %s', (version, members) => {
  expect(versionOf(readRule(`name: a\nzones: [8, 7]\nsearch: action:blocked url:~a\n${members}\n`)).slice(0, 16)).toBe(version);
});

describe('a file that is wrong names the line, the value and what is allowed', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'line 1: the rule is a text; allowed: name, zones, search'],
    ['- a', 'line 1: the rule is a list; allowed: name, zones'],
    ['name: [', 'line 1: '],
    [LEAST.replace('name: logins', 'zone: 7'), 'line 1: "zone" is not a member of a rule; allowed: name, zones, search, by'],
    [LEAST.replace('name: logins\n', ''), 'line 1: name is missing; allowed: 1 to 64 letters'],
    [LEAST.replace('logins', '"log ins"'), 'line 1: name is "log ins"; allowed: 1 to 64 letters'],
    [LEAST.replace('all', '7.5'), 'line 2: zones is "7.5"; allowed: all, or zone ids'],
    [LEAST.replace('all', '[]'), 'line 2: zones is a list; allowed: all, or zone ids'],
    [LEAST.replace('all', '[7, 7]'), 'line 2: zones has 2 values; allowed: at most 1000, each once'],
    [LEAST.replace('count', 'rate'), 'line 3: kind is "rate"; allowed: count, distinct, ratio, more_than_before, new_value, silence'],
    [LEAST.replace('100', '0'), 'line 4: at_least is "0"; allowed: a whole number 1..1000000000'],
    [LEAST.replace('5m', '59s'), 'line 5: window is "59s"; allowed: a time from 1m to 1d, such as 90s, 5m, 1h or 2d'],
    [LEAST.replace('5m', '25h'), 'line 5: window is "25h"'],
    [LEAST.replace('window: 5m', 'quiet: 5m'), 'line 1: window is missing; allowed: a time from 1m to 1d'],
    [`${LEAST}field: url`, 'line 6: field does not go with kind count; allowed: with kind distinct, new_value'],
    [`${LEAST}for: 1h`, 'line 6: for does not go with kind count; allowed: with kind new_value, silence'],
    ['name: a\nzones: all\nkind: silence\nfor: 15m\nsearch: a', 'line 5: search does not go with kind silence; allowed: with kind count, '],
    ['name: a\nzones: all\nkind: silence\nfor: 4m', 'line 4: for is "4m"; allowed: a time from 5m to 23h'],
    [
      'name: a\nzones: all\nkind: new_value\nfield: url\nwindow: 5m',
      'line 5: window does not go with kind new_value; allowed: with kind count',
    ],
    [LEAST.replace('count', 'ratio'), 'line 1: part is missing; allowed: a search, as in search'],
    [`${LEAST.replace('count', 'ratio')}part: "\\"a"\nshare: 5%`, 'line 6: part, character'],
    [`${LEAST.replace('count', 'ratio')}part: a\nshare: 5`, 'line 7: share is "5"; allowed: a percentage from 0.01% to 100%'],
    [`${LEAST.replace('count', 'ratio')}part: a\nshare: 0.001%`, 'line 7: share is "0.001%"'],
    [LEAST.replace('count', 'more_than_before'), 'line 1: times is missing; allowed: a number from 1 to 1000'],
    [`${LEAST.replace('count', 'more_than_before')}times: 0.99`, 'line 6: times is "0.99"; allowed: a number from 1 to 1000'],
    [LEAST.replace('count', 'distinct'), 'line 1: field is missing; allowed: feature, ruleId'],
    [
      `${LEAST.replace('count', 'distinct').replace('100', '10001')}field: url`,
      'line 4: at_least is "10001"; allowed: a whole number 1..10000',
    ],
    [`${LEAST}by: [ip, ip]`, 'line 6: by has 2 values; allowed: at most 3, each once'],
    [`${LEAST}by: colour`, 'line 6: by is "colour"; allowed: feature, ruleId'],
    [`${LEAST}hold: 1001`, 'line 6: hold is "1001"; allowed: a whole number 1..1000'],
    [`${LEAST}late: 73h`, 'line 6: late is "73h"; allowed: a time from 0s to 3d'],
    [`${LEAST}max_age: 59s`, 'line 6: max_age is "59s"; allowed: a time from 1m to 3d'],
    [`${LEAST}max_groups: 1`, 'line 6: max_groups is "1"; allowed: a whole number 2..500000'],
    [`${LEAST}severity: loud`, 'line 6: severity is "loud"; allowed: info, low, medium, high, critical'],
    [`${LEAST}labels: [a]`, 'line 6: labels is a list; allowed: at most 20 texts'],
    [`${LEAST}receivers: a b`, 'line 6: receivers is "a b"; allowed: 1 to 64 letters'],
    [`${LEAST}search: 'login action:'`, 'line 6: search, character'],
    [`${LEAST}search: {filters: [{field: colour, op: eq, value: [red]}]}`, 'line 6: search filters[0].field'],
    [`${LEAST}search: {from: 1}`, 'line 6: search '],
  ];
  test.each(cases)('%j', (text, expected) => {
    expect(faultsOf(text).join('\n')).toContain(expected);
  });

  test('and all that is wrong, in the order of the lines', () => {
    expect(faultsOf('hold: 0\nzones: x\nkind: count\nname: a\nat_least: 1\nwindow: 1m\n').map((fault) => fault.slice(0, 12))).toEqual([
      'line 1: hold',
      'line 2: zone',
    ]);
  });
});

test('times and numbers are taken up to their bounds', () => {
  const { window, atLeast } = RULE_LIMITS;
  expect(readRule(LEAST.replace('5m', '1m')).windowMs).toBe(window.min);
  expect(readRule(LEAST.replace('5m', '86400s')).windowMs).toBe(window.max);
  expect(readRule(LEAST.replace('100', '1000000000')).kind).toEqual({ kind: 'count', atLeast: atLeast.max });
});
