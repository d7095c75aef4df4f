import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { runHere } from './command-run.ts';

const OWN = 'preset: aws-waf\nzone: {path: "httpRequest.headers[name=host].value", table: {"*.example.com": 9}}\n';
function record(host: string, timestamp = Date.now()): string {
  const httpRequest = { clientIp: '192.0.2.7', headers: [{ name: 'Host', value: host }], uri: '/a', requestId: `r-${host}` };
  return JSON.stringify({ timestamp, terminatingRuleId: 'sqli', action: 'BLOCK', httpRequest });
}

/** A folder with files of these texts. */
function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

it.each<[readonly string[], string]>([
  [[], 'mappings needs one of list, show, check, try'],
  [['lst'], "'lst' is not one of list, show, check, try"],
  [['list', 'a'], "Unexpected argument 'a'"],
  [['show', 'a', 'b'], "Unexpected argument 'b'; mappings show needs the NAME of a mapping"],
  [['show'], 'mappings show needs the NAME of a mapping'],
  [['check'], 'mappings check needs the FILE of a mapping'],
  [['try'], 'mappings try needs --mapping NAME'],
  [['try', '--mapping', 'aws-waf', '--zone', '1e3'], '--zone "1e3" is not allowed; allowed: a whole number -2147483648..2147483647'],
  [['list', '--zone', '1'], '--zone is not allowed with mappings list'],
  [['check', 'a', '--mapping', 'aws-waf'], '--mapping is not allowed with mappings check'],
  [['list', '--zne', 'a'], "Unknown option '--zne'; did you mean --zone?"],
])('mappings %j is refused', async (args, message) => {
  expect(await runHere(['mappings', ...args])).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
});

it('lists the presets and the mappings of the folder, and shows the file of each', async () => {
  const folder = folderWith({ 'shop.yaml': OWN, 'README.md': 'none' });
  const listed = await runHere(['mappings', 'list'], { MAPPINGS: folder });
  expect(listed.stdout).toMatch(/^aws-waf\tpreset$/m);
  expect(listed.stdout).toContain(`shop\t${join(folder, 'shop.yaml')}\n`);
  expect(await runHere(['mappings', 'show', 'shop', '--mappings', folder])).toEqual({ status: 0, stdout: OWN, stderr: '' });
  expect((await runHere(['mappings', 'show', 'aws-waf'])).stdout).toMatch(/^# AWS WAF/);
  expect(await runHere(['mappings', 'show', 'shop'])).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(
      /there is no mapping 'shop'; there are: .*aws-waf.*; --mappings or MAPPINGS names the folder of your own/,
    ),
  });
});

it.each<[string, Readonly<Record<string, string>>, RegExp]>([
  [
    'with a wrong file',
    { 'shop.yaml': 'preset: aws-waf\nzone: eu west' },
    /MAPPINGS: .*shop\.yaml, line 2: zone is "eu west"; allowed: a path/,
  ],
  [
    'with the name of a preset',
    { 'aws-waf.yaml': OWN },
    /MAPPINGS: .*aws-waf\.yaml: a preset has this name; allowed: another name, and preset: aws-waf in the file/,
  ],
  [
    'with a name that no request can have',
    { 'my shop.yaml': OWN },
    /MAPPINGS: .*my shop\.yaml: the name of the file is not allowed; allowed: NAME\.yaml/,
  ],
  [
    'with a file of another kind',
    { 'shop.yaml': [...Array(30).keys()].map((index) => `k${index}: 1\n`).join('') },
    /MAPPINGS: (?:[^\n]*shop\.yaml, line \d+: [^\n]*\n[^\n]*){20}shop\.yaml: 11 more\n$/,
  ],
  ['with another ending', { 'shop.yml': OWN }, /MAPPINGS: .*shop\.yml: the name of the file is not allowed/],
])('a folder %s is refused, by the start of the program, too', async (_, files, message) => {
  const folder = folderWith(files);
  for (const command of [['mappings', 'list'], ['serve']]) {
    const { status, stderr } = await runHere(command, { MAPPINGS: folder, DATA_DIR: temporaryFolder() });
    expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
  }
});

it('an access key of a mapping that there is not ends the start of the program', async () => {
  const ACCESS_KEYS = 'waf:0123456789abcdef:7:ingest:aws-waf,own:0123456789abcdefg:7:ingest:own';
  const { status, stderr } = await runHere(['serve'], { ACCESS_KEYS, DATA_DIR: temporaryFolder() });
  const line = /^shieldlog: ACCESS_KEYS: the fifth part of entry 2 of 2 is no mapping; allowed: aws-waf, [^\n]+\n$/;
  expect([status, stderr]).toEqual([2, expect.stringMatching(line)]);
});

it.each<[string, RegExp]>([
  ['waf=nothing', /^shieldlog: KAFKA_TOPICS="waf=nothing" is not allowed: "nothing" is no mapping; allowed: aws-waf, .*shop.*\n$/],
  [
    'waf-*=shop,events,waf=aws-waf',
    /^shieldlog: KAFKA_TOPICS="waf=aws-waf" is not allowed: the mapping has no zone, and a topic gives none; allowed: a mapping with a/,
  ],
])('a start with KAFKA_TOPICS=%s is refused', async (topics, message) => {
  const env = { MAPPINGS: folderWith({ 'shop.yaml': OWN }), DATA_DIR: temporaryFolder(), KAFKA_TOPICS: topics };
  const { status, stderr } = await runHere(['serve'], env);
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
});

it('a folder that is not there is refused', async () => {
  const { status, stderr } = await runHere(['mappings', 'list', '--mappings', '/nowhere']);
  expect([status, stderr]).toEqual([2, 'shieldlog: MAPPINGS: /nowhere cannot be read: no such file or directory\n']);
});

it('check tells what is wrong with a file', async () => {
  const folder = folderWith({ 'a.yaml': 'ua: x\nfoo: 1', 'b.yaml': OWN });
  expect(await runHere(['mappings', 'check', join(folder, 'a.yaml')])).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^shieldlog: .*a\.yaml, line 1: timestamp is missing.*\nshieldlog: .*a\.yaml, line 2: "foo" is not a member.*\n$/,
    ),
  });
  expect(await runHere(['mappings', 'check', join(folder, 'b.yaml')])).toEqual({
    status: 0,
    stdout: '',
    stderr: `${join(folder, 'b.yaml')} is right\n`,
  });
});

it('check shows record, event and reason side by side, and ends with 1 for a reason', async () => {
  const records = [record('a.example.com'), record('b.example.org'), 'no record', record('c.example.com', Date.now() + 3_600_000)];
  const folder = folderWith({
    'shop.yaml': OWN,
    'some.log': records.slice(0, 1).join('\n'),
    'more.log.gz': gzipSync(records.slice(1).join('\n')),
  });
  const { status, stdout, stderr } = await runHere([
    'mappings',
    'check',
    ...['shop.yaml', 'some.log', 'more.log.gz'].map((name) => join(folder, name)),
  ]);
  expect(status).toBe(1);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    {
      record: JSON.parse(String(records[0])),
      event: expect.objectContaining({ shieldZoneId: 9, logId: 'r-a.example.com', action: 'blocked' }),
    },
    { record: JSON.parse(String(records[1])), reason: expect.stringContaining('the mapping names none for "b.example.org"') },
    { record: 'no record', reason: expect.stringContaining('is not JSON') },
    { record: JSON.parse(String(records[3])), event: expect.anything(), reason: expect.stringContaining('at most 10 minutes after now') },
  ]);
  expect(stderr).toBe('events 1, rejected 3, left out 0\n');
});

it('check says how many records have no id by the mapping', async () => {
  const folder = folderWith({ 'shop.yaml': `${OWN}id: null`, 'some.log': `${record('a.example.com')}\n${record('b.example.com')}` });
  const { status, stderr } = await runHere(['mappings', 'check', join(folder, 'shop.yaml'), join(folder, 'some.log')]);
  expect([status, stderr]).toEqual([
    0,
    'events 2, rejected 0, left out 0; without an id by the mapping 2, of which equal ones are one event\n',
  ]);
});

it('try writes the events, and the reasons apart from them', async () => {
  const leftOut = '{"messageType":"CONTROL_MESSAGE","logEvents":[{"message":""}]}';
  const input = `[${record('a.example.com')},\n${record('b.example.com')}]\n${leftOut}\n{"a":1}`;
  const { status, stdout, stderr } = await runHere(['mappings', 'try', '--mapping', 'aws-waf', '--zone=-3'], {}, input);
  expect(status).toBe(1);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { shieldZoneId: -3, logId: 'r-a.example.com' },
    { shieldZoneId: -3, logId: 'r-b.example.com' },
  ]);
  const reason = 'timestamp is absent: the record has no time where the mapping looks for it';
  expect(stderr).toBe(`${reason}: "{\\"a\\":1}"\nevents 2, rejected 1, left out 1\n`);
});

it.each([
  ['a file that is not there', ['check', 'OWN', '/nowhere'], '', /^shieldlog: \/nowhere cannot be read: no such file or directory$/m],
  [
    'an array that does not end',
    ['try', '--mapping', 'aws-waf'],
    '[{"a":1},',
    /^shieldlog: standard input: the input ends inside a JSON array, in element 1/m,
  ],
  ['gzip that is damaged', ['try', '--mapping', 'aws-waf'], gzipSync('x'.repeat(9)).subarray(0, 15), /^shieldlog: standard input: /m],
])('%s is told with its name', async (_, args, input, message) => {
  const own = join(folderWith({ 'own.yaml': OWN }), 'own.yaml');
  const { status, stderr } = await runHere(['mappings', ...args.map((arg) => (arg === 'OWN' ? own : arg))], {}, input);
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
});
