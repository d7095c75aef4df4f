import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MAX_HELD_ANSWER_BYTES } from '../../../../src/cli/program-requests.ts';
import { recordingUpstream } from '../../../edge/upstreams.ts';
import { eventually } from '../../../fixtures/eventually.ts';
import { ingest, type RunningApp, startApp } from '../../running-app.ts';
import { killAll, startCli, startPipeline } from '../cli-process.ts';
import { runHere } from '../command-run.ts';
import { startOnTerminal } from '../terminal-process.ts';

const KEY = 'key-of-two-zones-1';
const LOG = '{"big":123456789012345678901234567890,"tiny":1.10}';
/** What a terminal would do, in all the ways that it knows. */
const ACTING = '\u001b[2J\u001b]0;owned\u0007\r\nfake line\u009b31m\u2028\u202eevil\u007f';

let app: RunningApp;
let now: number;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}-all:*,two:${KEY}:1+7` } });
  now = Date.now();
  const lines = Array.from({ length: 60 }, (_, index) => {
    const [shieldZoneId, action, country] = [index % 3 === 0 ? 7 : 1, index % 2 === 0 ? 'blocked' : 'logged', index < 10 ? 'DE' : 'NL'];
    const event = { logId: `e${index}`, shieldZoneId, timestamp: now - index * 1_000, action, country, ip: `10.0.0.${index}`, ua: ACTING };
    return `${JSON.stringify(event).slice(0, -1)},"log":${LOG}}\n`;
  });
  expect((await ingest(app, lines.join(''), { accesskey: `${KEY}-all` })).body.accepted).toBe(60);
});

afterAll(() => app.stop());
afterEach(() => killAll());

const ENV = { SHIELDLOG_ACCESS_KEY: KEY };
const args = (name: string, ...rest: readonly string[]) => [name, '--url', app.url, ...rest];
const cli = (name: string, ...rest: readonly string[]) => runHere(args(name, ...rest), ENV);
const linesOf = (text: string): string[] => text.split('\n').filter(Boolean);

/** Runs a command on a terminal; resolves with its lines, without styles. */
async function linesOnTerminal(columns: number, given: readonly string[]): Promise<readonly string[]> {
  const terminal = startOnTerminal(given, { columns, env: ENV });
  expect(await terminal.ended).toBe(0);
  return stripVTControlCharacters(terminal.shown()).split('\r\n').filter(Boolean);
}

test.each([['search'], ['groups', '--group-by', 'ip'], ['export']])(
  'shieldlog %s tells of a word that looks like a filter and names no field',
  async (name, ...flags) => {
    const { status, stdout, stderr } = await cli(name, ...flags, 'contry:DE', '--ndjson');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toContain(
      `shieldlog ${name}: contry:DE is searched as a text, because no field is called contry; the fields are feature,`,
    );
  },
);

test.each([['search'], ['groups', '--group-by', 'ip'], ['export']])(
  'shieldlog %s tells each thing in a line of its own',
  async (name, ...flags) => {
    const { status, stderr } = await cli(name, ...flags, 'action=blocked', 'OR', '192[.]0[.]2[.]1', 'ua:curl', '--ndjson');
    expect([status, stderr.split('\n')]).toEqual([
      0,
      [
        `shieldlog ${name}: action=blocked is searched as a text; a filter is action:blocked`,
        expect.stringContaining(`shieldlog ${name}: OR is searched as a text`),
        `shieldlog ${name}: 192[.]0[.]2[.]1 is searched as it is written; ip:192.0.2.1 is what it stands for`,
        `shieldlog ${name}: ua:curl finds whole values alone; ua:~curl finds those that contain it`,
        '',
      ],
    ]);
  },
);

test('a word that looks like a filter by the zone is told of with the flag that chooses zones', async () => {
  const { stderr } = await cli('search', 'zone:7');
  expect(stderr).toMatch(
    /^shieldlog search: zone:7 is searched as a text, because no field is called zone; .*; --zone chooses the zones\n$/,
  );
});

describe('shieldlog search', () => {
  test('in a pipe writes a row a line, with every digit, and tells of further pages', async () => {
    const { status, stdout, stderr } = await cli(
      'search',
      'action:blocked',
      '-country:DE',
      '10.0.0',
      'ip:10.0.0.0/26',
      '--limit',
      '5',
      '--page',
      '2',
    );
    expect(status).toBe(0);
    expect(linesOf(stdout).map((line) => JSON.parse(line).logId)).toEqual(['e20', 'e22', 'e24', 'e26', 'e28']);
    for (const line of linesOf(stdout)) expect(line).toContain(`"log":${LOG}`);
    expect(stderr).toMatch(/^shieldlog search: 6 to 10 of 25 events from \S+Z to \S+Z; page 2 of 5; --page 3 --to \S+Z has the next\n$/);
  });

  test('is quiet where everything is there, and where nothing is', async () => {
    expect(await cli('search', '--limit', '500', '--columns', 'logId,zone,time,log', 'ip:10.0.0.3')).toEqual({
      status: 0,
      stdout: `{"logId":"e3","zone":7,"time":"${new Date(now - 3_000).toISOString()}","log":${LOG}}\n`,
      stderr: '',
    });
    expect(await cli('search', 'nothing')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test('--json is the answer as it came, of a window and a zone', async () => {
    const { stdout } = await cli('search', '--json', '--zone', '7', '--from', new Date(now - 9_000).toISOString(), '--to', String(now));
    const answer = JSON.parse(stdout);
    expect([answer.total, answer.rows.map(({ logId }: { readonly logId: string }) => logId)]).toEqual([3, ['e3', 'e6', 'e9']]);
    expect(stdout).toContain(LOG);
  });

  test('gives head and jq what they read', async () => {
    const head = startPipeline('"$0" "$@" --limit 500 | head -n 1; echo $PIPESTATUS', args('search', '10.0.0'), ENV);
    await head.ended;
    expect([head.stdout(), head.stderr()]).toEqual([expect.stringMatching(/^\{"logId":"e0"[^\n]*\n0\n$/), '']);
    const jq = startPipeline('"$0" "$@" | jq -r .key.country', args('groups', '--group-by', 'country'), ENV);
    await jq.ended;
    expect(jq.stdout()).toBe('NL\nDE\n');
  });

  test.each([20, 60, 100, 200])('on a terminal of %i columns is a table that fits, in which nothing acts', async (columns) => {
    const lines = await linesOnTerminal(columns, args('search', '--limit', '4', '--columns', 'time,action,ip,ua,log'));
    const table = lines.slice(0, 5);
    for (const line of table) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    expect(table.join('')).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
    expect(lines.at(-1)).toMatch(/^shieldlog search: 1 to 4 of 60 events from \S+ to \S+; page 1 of 15; --page 2 --to \S+Z has the next$/);
    if (columns === 200)
      expect(table[1]).toContain(
        String.raw`blocked  10.0.0.0  "\u001b[2J\u001b]0;owned\u0007\u000d\u000afake line\u009b31m\u2028\u202eevil\u007f"  {"big":1234`,
      );
  });

  test('on a narrow terminal leaves out the columns at the right that nobody could read, and names them', async () => {
    const lines = await linesOnTerminal(40, args('search', '--limit', '1', 'ip:10.0.0.0'));
    expect(lines[0]?.split(/ +/).slice(0, 2)).toEqual(['time', 'zone']);
    expect(lines[1]?.split(/ +/).length).toBe(4);
    expect(lines[2]).toMatch(
      /^shieldlog search: the terminal has no room for ip, ruleId, url; --columns chooses others, --ndjson has all$/,
    );
  });

  test('colours a terminal, unless NO_COLOR is set', async () => {
    for (const [env, isColoured] of [
      [{}, true],
      [{ NO_COLOR: '1' }, false],
    ] as const) {
      const terminal = startOnTerminal(args('search', '--limit', '1', 'ip:10.0.0.0'), { columns: 100, env: { ...ENV, ...env } });
      await terminal.ended;
      expect([terminal.shown().includes('\u001b[31mblocked'), terminal.shown().includes('\u001b[')]).toEqual([isColoured, isColoured]);
    }
  });

  test('a row that is written to a terminal as JSON does nothing there, and is the same JSON', async () => {
    for (const form of ['--ndjson', '--json']) {
      const terminal = startOnTerminal(args('search', form, '--limit', '1', 'ip:10.0.0.0'), { columns: 100, env: ENV });
      await terminal.ended;
      const [line = ''] = terminal.shown().split('\r\n');
      expect(line).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
      const { fields } = form === '--json' ? JSON.parse(line).rows[0] : JSON.parse(line);
      expect(fields.ua).toBe(ACTING);
    }
  });

  test('--table elsewhere is not cut and has no colours', async () => {
    const { stdout, stderr } = await cli('search', '--table', '--limit', '1', '--columns', 'logId,ua,log', 'ip:10.0.0.7');
    expect(stdout).toMatch(/^logId {2}ua +log\ne7 {5}"\\u001b\[2J.*\\u007f" {2}\{"big":123456789012345678901234567890,"tiny":1.10\}\n$/);
    expect(stderr).toMatch(/^shieldlog search: 1 to 1 of 1 events from \S+ to \S+; page 1 of 1\n$/);
  });

  test.each<[what: string, args: readonly string[], status: number, message: string]>([
    ['a line', ['a', 'ip:'], 2, 'shieldlog: character 6: a value is missing here; ip:"" is the empty one\n  a ip:\n       ^\n'],
    ['a value', ['a', '-ip:1.2.3.4/99'], 2, '/99"\n  a -ip:1.2.3.4/99\n        ^\n'],
    ['a time', ['--last', '80h'], 2, 'shieldlog: --last "80h" is not allowed; allowed: a time such as 30s, 15m, 1h, 1d, up to 3d\n'],
    ['a beginning too long ago', ['--from', '2000-01-01'], 2, ' (72 hours and 60 seconds ago), not 2000-01-01T00:00:00.000Z\n'],
    ['a beginning to come', ['--from', '2999-01-01'], 2, '--from "2999-01-01" is not allowed; allowed: a time before now, which is '],
    ['an end too long ago', ['--last', '1h', '--to', '2000-01-01'], 2, '--to "2000-01-01" is not allowed; allowed: a time after '],
    [
      'an end before the beginning',
      ['--from', '2026-01-02', '--to', '2026-01-01'],
      2,
      'shieldlog: --to "2026-01-01" is not allowed; allowed: a time after --from "2026-01-02"',
    ],
    ['an end in the future', ['--to', '2999-01-01', '--from', '2998-01-01'], 2, 'shieldlog: --to must be at most '],
    ['a page', ['--page', '0'], 2, 'shieldlog: --page "0" is not allowed; allowed: a whole number 1..'],
    ['a limit', ['--limit', '501'], 2, 'shieldlog: --limit "501" is not allowed; allowed: a whole number 1..500\n'],
    ['a zone', ['--zone', '2'], 1, 'answered 403: '],
    ['two forms', ['--json', '--table'], 2, 'shieldlog: --table and --json are both given; allowed: one of them\n'],
  ])('names what is wrong with %s', async (_what, given, status, message) => {
    expect(await cli('search', ...given)).toEqual({ status, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('a page behind the last says so', async () => {
    const { status, stdout, stderr } = await cli('search', '--page', '9');
    expect([status, stdout, stderr]).toEqual([
      0,
      '',
      expect.stringMatching(/: 60 events from .*; page 9 is behind the last, which is 2\n$/),
    ]);
  });
});

describe('shieldlog groups', () => {
  test('on a terminal is a table with sparklines', async () => {
    const given = ['--group-by', 'country,zone', '--buckets', '6', '--from', String(now - 60_000), '--to', String(now + 1), '10.0.0'];
    const lines = await linesOnTerminal(100, args('groups', ...given));
    expect(lines).toEqual([
      'country  zone  count  sparkline  blocked  challenged  logged  lastSeen',
      `NL       1        34  ██▇██           17           0      17  ${new Date(now - 10_000).toISOString()}`,
      `NL       7        16  ▆▆█▆▆            8           0       8  ${new Date(now - 12_000).toISOString()}`,
      expect.stringMatching(/^DE +1 +6 +█ +3 +0 +3 /),
      expect.stringMatching(/^DE +7 +4 +█ +2 +0 +2 /),
      expect.stringMatching(/^shieldlog groups: 1 to 4 of 4 groups from \S+ to \S+; page 1 of 1$/),
    ]);
  });

  test('on a narrow terminal shows so much of what the groups are of that they can be told apart', async () => {
    const [header, line] = await linesOnTerminal(80, args('groups', '--group-by', 'ua', '10.0.0'));
    expect(header).toMatch(/^ua {14,} {2}count {2}spa… {2}blocked {2}challenged {2}logged {2}lastSeen$/);
    expect(line).toMatch(/^"\\u001b\[2J\\u001b]\S*… {5}60 /);
  });

  test('in a pipe is a group a line', async () => {
    const { stdout } = await cli('groups', '--group-by', 'COUNTRY', '--buckets', '0', '--columns', 'country,count,blocked,lastSeen');
    expect(stdout).toBe(
      `{"country":"NL","count":50,"blocked":25,"lastSeen":"${new Date(now - 10_000).toISOString()}"}\n` +
        `{"country":"DE","count":10,"blocked":5,"lastSeen":"${new Date(now).toISOString()}"}\n`,
    );
  });

  test.each([
    ['no fields', [], 'shieldlog: groups needs --group-by NAME[,NAME…]; allowed: feature, ruleId, ip, '],
    ['a field that there is not', ['--group-by', 'ip,host'], 'shieldlog: --group-by "ip,host" is not allowed; allowed: feature, '],
    ['a field given twice', ['--group-by', 'ip,IP'], 'shieldlog: --group-by "ip,IP" is not allowed; '],
    ['a column of rows', ['--group-by', 'ip', '--columns', 'url'], 'shieldlog: --columns "url" is not allowed; allowed: ip, count, '],
  ])('refuses %s: status 2', async (_what, given, message) => {
    expect(await cli('groups', ...given)).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining(message) });
  });
});

describe('pages, while events come in', () => {
  /** When the first events were, which are two hours old. */
  let firstAt: number;
  let busy: RunningApp;
  let newer: number;

  /** Takes three events, each in a zone and of an address that had none of this time. */
  async function comeIn(timestamp: number): Promise<void> {
    newer += 1;
    const event = { shieldZoneId: 9, timestamp, ip: `192.0.2.${newer}` };
    const lines = [0, 1, 2].map((index) => `${JSON.stringify({ ...event, logId: `newer${newer}-${index}` })}\n`);
    expect((await ingest(busy, lines.join(''))).body.accepted).toBe(3);
  }

  beforeAll(async () => {
    busy = await startApp();
    [firstAt, newer] = [Date.now() - 2 * 3_600_000, 0];
    const lines = Array.from(
      { length: 7 },
      (_, index) =>
        `${JSON.stringify({ logId: `e${index}`, shieldZoneId: 9, timestamp: firstAt - index * 1_000, ip: `10.0.0.${index}` })}\n`,
    );
    expect((await ingest(busy, lines.join(''))).body.accepted).toBe(7);
  });

  afterAll(() => busy.stop());

  test.each<[name: string, flags: readonly string[]]>([
    ['search', []],
    ['search', ['--last', '3h']],
    ['search', ['--last', '3d']],
    ['search', ['--from', '3 hours']],
    ['groups', ['--group-by', 'ip']],
  ])('of shieldlog %s %j go on with the flags that the last line names', async (name, flags) => {
    const given = [name, '--url', busy.url, '--columns', name === 'groups' ? 'ip' : 'logId', '--limit', '3'];
    given.push(...flags.map((text) => (text === '3 hours' ? new Date(firstAt - 3_600_000).toISOString() : text)));
    const all = linesOf((await runHere([...given, '--limit', '500'])).stdout);
    const shown: string[] = [];
    let next: readonly string[] | null = [];
    while (next !== null && shown.length < all.length) {
      given.push(...next);
      const { stdout, stderr } = await runHere(given);
      shown.push(...linesOf(stdout));
      next = /; (--page .*) has the next\n$/.exec(stderr)?.[1]?.split(' ') ?? null;
      await comeIn(Date.now());
    }
    expect([shown, next]).toEqual([all, null]);
    expect(all.length).toBeGreaterThanOrEqual(7);
  });

  test('of a window that has its end are named by their number alone', async () => {
    const to = new Date(firstAt + 1).toISOString();
    for (const flags of [[], ['--last', '1h'], ['--from', String(firstAt - 3_600_000)]]) {
      const { stderr } = await runHere(['search', '--url', busy.url, '--limit', '3', '--to', to, ...flags]);
      expect(stderr).toMatch(/: 1 to 3 of 7 events from \S+ to \S+; page 1 of 3; --page 2 has the next\n$/);
    }
  });
});

test('an answer that is too long to be held says so', async () => {
  await using server = await recordingUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (let sent = 0; sent <= MAX_HELD_ANSWER_BYTES; sent += 1024 * 1024) response.write(Buffer.alloc(1024 * 1024, ' '));
  });
  const told = await runHere(['search', '--url', server.url]);
  const line = `shieldlog: the answer is longer than ${MAX_HELD_ANSWER_BYTES} bytes; ask for fewer events with --limit\n`;
  expect(told).toEqual({ status: 1, stdout: '', stderr: line });
});

test.each(['', '[', '{"rows":[{},"total":1}', '{"rows":null,"groups":null,"total":1}', '{"rows":[]}'])(
  'an answer of %j is none',
  async (body) => {
    await using server = await recordingUpstream((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    const told = await runHere(['search', '--url', server.url]);
    expect(told).toEqual({
      status: 1,
      stdout: '',
      stderr: 'shieldlog: what answered is no shieldlog: its answer is not that of a search\n',
    });
  },
);

test('a search that is not answered ends on SIGINT as a shell expects it', async () => {
  await using server = await recordingUpstream(() => undefined);
  const search = startCli(['search', '--url', server.url]);
  await eventually('it is asked', () => server.seen.length === 1);
  search.child.kill('SIGINT');
  await search.ended;
  expect(search.child.signalCode).toBe('SIGINT');
});

test('behind --, what looks like a flag is a word', async () => {
  const { status, stdout } = await cli('search', '--ndjson', '--', '-h');
  expect([status, stdout]).toEqual([0, '']);
});
