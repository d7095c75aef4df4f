import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/cli/command.ts';
import { parseFeedOptions } from '../../../../src/cli/feed/feed-options.ts';
import { defaultStateFile } from '../../../../src/cli/feed/feed-state.ts';
import { targetText } from '../../../../src/cli/feed/feed-target.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

const BASE = ['--zone', '7', '--to', 'out.ndjson'];
const parse = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => parseFeedOptions(args, env);
const to = (target: string, ...more: string[]) => ['--zone', '7', '--to', target, ...more];

describe('the command line of feed', () => {
  test('needs a zone and a target, and has defaults for the rest', () => {
    expect(parse(BASE)).toMatchObject({
      url: new URL('http://127.0.0.1:8080'),
      accessKey: null,
      zone: '7',
      part: null,
      search: null,
      format: 'native',
      target: { kind: 'file', path: resolve('out.ndjson') },
      stateFile: null,
      fromNow: false,
      once: false,
      limit: 10_000,
      waitSeconds: 30,
      rotation: { sizeBytes: null, everyMs: null, pattern: '{stem}-{time}-{n}{ext}', keep: null },
      gzip: false,
      sinkToken: null,
    });
  });

  test('takes a search line, and shows where one is wrong', () => {
    expect(parse([...BASE, '--search', 'action:blocked -country:NL login']).search).toBe('action:blocked -country:NL login');
    expect(() => parse([...BASE, '--search', 'login action:'])).toThrow(UsageError);
    try {
      parse([...BASE, '--search', 'login action:']);
    } catch (error) {
      expect((error as UsageError).below.join('\n')).toMatch(/login action:\n +\^/);
    }
  });

  test.each([
    ['all', 'all'],
    ['9,7, 7,-1', '-1,7,9'],
  ])('takes the zones %s', (zone, expected) => {
    expect(parse(['--zone', zone, '--to', '-']).zone).toBe(expected);
  });

  test.each([
    ['-', { kind: 'stdout' }, '-'],
    ['a/b:c', { kind: 'file', path: resolve('a/b:c') }, resolve('a/b:c')],
    [
      'https://collector.example/in?a=b',
      { kind: 'http', url: new URL('https://collector.example/in?a=b') },
      'https://collector.example/in?a=b',
    ],
    ['syslog+tcp://siem:80', { kind: 'syslog', host: 'siem', port: 80, tls: false }, 'syslog+tcp://siem:80'],
    ['syslog+tls://[::1]:6514/', { kind: 'syslog', host: '::1', port: 6514, tls: true }, 'syslog+tls://::1:6514'],
    ['splunk-hec+https://splunk:8088', { kind: 'hec', url: new URL('https://splunk:8088') }, 'splunk-hec+https://splunk:8088/'],
    [
      'splunk-hec+http://127.0.0.1:8088/prefix',
      { kind: 'hec', url: new URL('http://127.0.0.1:8088/prefix') },
      'splunk-hec+http://127.0.0.1:8088/prefix',
    ],
  ])('takes the target %s', (text, target, shown) => {
    const parsed = parse(to(text)).target;
    expect(parsed).toEqual(target);
    expect(targetText(parsed)).toBe(shown);
  });

  test.each([['https://collector.example/in'], ['splunk-hec+https://splunk:8088']])(
    'takes at %s what becomes of refused events',
    (target) => {
      expect(parse(to(target))).toMatchObject({ acceptAny: false, rejectedFile: null });
      expect(parse(to(target, '--accept-any', '--rejected', 'r.ndjson'))).toMatchObject({
        acceptAny: true,
        rejectedFile: resolve('r.ndjson'),
      });
    },
  );

  test.each([
    ['500', 500],
    ['64k', 65_536],
    ['100M', 104_857_600],
    ['2G', 2_147_483_648],
  ])('takes the size %s', (text, sizeBytes) => {
    expect(parse([...BASE, '--rotate-size', text]).rotation.sizeBytes).toBe(sizeBytes);
  });

  test.each([[BASE], [to('-')], [to('syslog+tcp://siem:514')], [to('https://collector.example/')]])(
    'takes with %j the size of a line',
    (args) => {
      expect([parse(args).maxLine, parse([...args, '--max-line', '8k']).maxLine]).toEqual([null, 8_192]);
    },
  );

  test.each([
    ['30s', 30_000],
    ['15m', 900_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
  ])('takes the time %s', (text, everyMs) => {
    expect(parse([...BASE, '--rotate-every', text]).rotation.everyMs).toBe(everyMs);
  });

  test.each([
    [['--to', '-'], 'feed needs --zone ZONE[,ZONE…] or all'],
    [['--zone', '7'], 'feed needs --to FILE, -, or the URL of a receiver'],
    [[...BASE, 'more'], "Unexpected argument 'more'; feed takes only flags"],
    [[...BASE, '--formt', 'ecs'], "Unknown option '--formt'; did you mean --format?"],
    [[...BASE, '--format', 'xml'], '--format "xml" is not allowed; allowed: native, ecs, ocsf, cef'],
    [['--zone', '7,x', '--to', '-'], '--zone "7,x" is not allowed; allowed: all, or zone ids'],
    [[...BASE, '--limit', '0'], '--limit "0" is not allowed; allowed: a whole number 1..100000'],
    [[...BASE, '--part', '0/2'], '--part "0/2" is not allowed; allowed: K/N in whole numbers, 1 <= K <= N <= 1000, such as 2/4'],
    [[...BASE, '--wait', '31'], '--wait "31" is not allowed; allowed: a whole number 0..30'],
    [[...BASE, '--max-line', '1023'], '--max-line "1023" is not allowed; allowed: a size of 1024 bytes or more, such as 8k'],
    [[...BASE, '--max-line', '8kb'], '--max-line "8kb" is not allowed; allowed: a size such as'],
    [[...BASE, '--rotate-size', '1T'], '--rotate-size "1T" is not allowed'],
    [[...BASE, '--rotate-every', '1w'], '--rotate-every "1w" is not allowed'],
    [[...BASE, '--rotate-name', '{stem}'], '--rotate-name "{stem}" does not have {n}'],
    [[...BASE, '--rejected', 'r'], '--rejected does not go with a --to of this kind'],
    [to('syslog+tcp://siem:514', '--accept-any'), '--accept-any does not go with a --to of this kind'],
    [[...BASE, '--gzip'], '--gzip does not go with a --to of this kind'],
    [[...BASE, '--hec-index', 'main'], '--hec-index does not go with a --to of this kind'],
    [to('-', '--keep', '3'), '--keep does not go with a --to of this kind'],
    [to(''), '--to "" is not allowed: it is empty'],
    [to('ftp://host/x'), '--to "ftp://host/x" is not allowed: ftp:// is not known; allowed: FILE, -'],
    [to('https://'), '--to "https://" is not allowed: it is not a URL'],
    [to('syslog+tcp://siem'), '--to "syslog+tcp://siem" is not allowed: it has no port'],
    [to('syslog+tcp://siem:514/x'), 'there is no path at a syslog receiver'],
    [to('splunk-hec+http://splunk:8088'), 'without TLS only loopback is; allowed: splunk-hec+https://HOST:PORT'],
    [to('syslog+tcp://siem:514', '--syslog-facility', 'local9'), '--syslog-facility "local9" is not allowed; allowed: kern, user'],
    [to('syslog+tcp://siem:514', '--syslog-app-name', 'a b'), '--syslog-app-name "a b" is not allowed; allowed: 1 to 48 printable'],
  ])('%j is wrong', (args, words) => {
    expect(() => parse(args)).toThrow(UsageError);
    expect(() => parse(args)).toThrow(words);
  });

  describe('refuses one file for the state and', () => {
    let folder: string;

    beforeEach(() => {
      folder = temporaryFolder();
      mkdirSync(join(folder, 'there'));
      symlinkSync(join(folder, 'there'), join(folder, 'link'));
      writeFileSync(join(folder, 'there', 'old'), '');
      symlinkSync(join(folder, 'there', 'old'), join(folder, 'old-link'));
    });

    test.each([
      ['there/new', 'there/new'],
      ['there/old', 'there/old'],
      ['there/new', './link/../link/new'],
      ['there/old', 'old-link'],
      ['old-link', 'link/old'],
      ['there/new', 'there/new.tmp'],
      ['there/new', 'link/new.lock'],
    ])('events, named %s and %s', (state, events) => {
      const [stateFile, file] = [join(folder, state), `${folder}/${events}`];
      expect(() => parse(to(file, '--state', stateFile))).toThrow(UsageError);
      expect(() => parse(to(file, '--state', stateFile))).toThrow(/^--state ".*" and --to ".*" are one file/);
      const toUrl = to('https://collector.example/in', '--state', stateFile, '--rejected', file);
      expect(() => parse(toUrl)).toThrow(/^--state ".*" and --rejected ".*" are one file/);
    });

    test('not two', () => {
      expect(parse(to(join(folder, 'a'), '--state', join(folder, 'b'))).stateFile).toBe(join(folder, 'b'));
    });
  });

  test.each([['https://me:hidden@collector.example/'], ['syslog+tls://me:hidden@siem:6514']])(
    'refuses credentials in %s without showing them',
    (text) => {
      expect(() => parse(to(text))).toThrow('it has credentials in it; set SHIELDLOG_SINK_TOKEN');
      expect(() => parse(to(text))).not.toThrow('hidden');
    },
  );
});

describe('the token of a sink', () => {
  test.each([
    ['https://collector.example/', 'secret', 'secret'],
    ['http://127.0.0.1:9000/', 'secret', 'secret'],
    ['https://collector.example/', '', null],
    ['syslog+tls://siem:6514', 'secret', null],
  ])('for %s is %j: %j', (target, SHIELDLOG_SINK_TOKEN, expected) => {
    expect(parse(to(target), { SHIELDLOG_SINK_TOKEN }).sinkToken).toBe(expected);
  });

  test.each([
    ['http://collector.example/', 'secret', 'is not sent to http://collector.example in the clear'],
    ['https://collector.example/', 'se cret', 'is not allowed; allowed: a token of printable'],
  ])('for %s is refused, and not shown', (target, SHIELDLOG_SINK_TOKEN, words) => {
    expect(() => parse(to(target), { SHIELDLOG_SINK_TOKEN })).toThrow(words);
    expect(() => parse(to(target), { SHIELDLOG_SINK_TOKEN })).not.toThrow(SHIELDLOG_SINK_TOKEN);
  });
});

describe('the default path of the state', () => {
  const identity = { url: 'http://127.0.0.1:8080/', zone: '7', part: null, search: null, format: 'native', to: '/out' };

  test('follows XDG_STATE_HOME, and is another for another program, zone, part, search, format and target', () => {
    const env = { XDG_STATE_HOME: '/state' };
    const others = [
      identity,
      { ...identity, url: 'x' },
      { ...identity, zone: '8' },
      { ...identity, format: 'ecs' },
      { ...identity, to: '-' },
      { ...identity, part: '1/2' },
      { ...identity, part: '2/2' },
      { ...identity, search: 'action:blocked' },
      { ...identity, part: 'action:blocked' },
    ];
    const paths = new Set(others.map((other) => defaultStateFile(other, env)));
    expect(paths.size).toBe(9);
    for (const path of paths) expect(path).toMatch(/^\/state\/shieldlog\/feed-[0-9a-f]{16}\.json$/);
    expect(defaultStateFile(identity, {})).toMatch(/\/\.local\/state\/shieldlog\/feed-/);
  });
});

describe('--give-up-after', () => {
  test.each([
    [['--once'], 600_000],
    [[], null],
    [['--once', '--give-up-after', '30s'], 30_000],
    [['--give-up-after', '1h'], 3_600_000],
  ])('with %j is %j ms', (flags, expected) => {
    expect(parse(['--zone', '7', '--to', '-', ...flags]).giveUpAfterMs).toBe(expected);
  });

  test.each([
    [[], 30],
    [['--give-up-after', '2s'], 1],
    [['--give-up-after', '1h'], 30],
    [['--give-up-after', '1h', '--wait', '5'], 5],
  ])('with %j has the program wait for %i s, which is no trouble yet', (flags, expected) => {
    expect(parse(['--zone', '7', '--to', '-', ...flags]).waitSeconds).toBe(expected);
  });

  test.each(['0s', '10', 'soon', '-5m', '25d', '999999h'])('refuses %s', (text) => {
    expect(() => parse(['--zone', '7', '--to', '-', `--give-up-after=${text}`])).toThrow(
      `--give-up-after "${text}" is not allowed; allowed: a time such as 30s, 15m, 1h, 1d, up to 24d`,
    );
  });
});
