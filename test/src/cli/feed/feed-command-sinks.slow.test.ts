import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { hecListener } from '../../sinks/hec-listener.ts';
import { httpListener } from '../../sinks/http-listener.ts';
import { expectedIds, idsIn } from '../../sinks/sample-events.ts';
import { syslogListener } from '../../sinks/syslog-listener.ts';
import { type TestCertificate, testCertificate } from '../../sinks/test-certificate.ts';
import { killAll, runCli } from '../cli-process.ts';

let app: RunningApp;
let folder: string;
let certificate: TestCertificate;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp();
  certificate = await testCertificate();
  writeFileSync(join(folder, 'ca.pem'), certificate.cert);
  await ingest(
    app,
    expectedIds(5)
      .map((logId) => eventLine({ logId, action: 'blocked' }))
      .join(''),
  );
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const feedOnce = (to: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(['feed', '--url', app.url, '--zone', '7', '--once', '--limit', '2', '--state', join(folder, 'state'), '--to', to, ...args], env);

describe('shieldlog feed', () => {
  test('to an HTTP receiver behind TLS, compressed, with its token', async () => {
    const listener = await httpListener(() => ({ status: 202 }), { certificate });
    onTestFinished(() => listener.stop());
    const args = ['--ca', join(folder, 'ca.pem'), '--gzip'];
    const { status, stderr } = await feedOnce(`${listener.url.href}in`, args, { SHIELDLOG_SINK_TOKEN: 'a-token' });
    expect([status, stderr]).toEqual([0, expect.stringContaining('5 events delivered to https://127.0.0.1')]);
    expect(listener.received.flatMap(({ body }) => idsIn(body))).toEqual(expectedIds(5));
    expect(listener.received).toMatchObject(
      Array.from({ length: 3 }, () => ({
        url: '/in',
        headers: { authorization: 'Bearer a-token', accesskey: 'a-token', 'content-encoding': 'gzip' },
      })),
    );
  });

  test('to a syslog receiver behind TLS, in CEF, with what the flags say', async () => {
    const listener = await syslogListener(() => 'read', { certificate });
    onTestFinished(() => listener.stop());
    const flags = ['--syslog-facility', 'authpriv', '--syslog-severity', 'warning', '--syslog-app-name', 'edge', '--syslog-msgid', 'waf'];
    const args = ['--ca', join(folder, 'ca.pem'), '--format', 'cef', ...flags];
    expect((await feedOnce(`syslog+tls://127.0.0.1:${listener.port}`, args)).status).toBe(0);
    expect(listener.messages).toHaveLength(5);
    for (const message of listener.messages) {
      expect(message).toMatch(/^<84>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ edge \d+ waf - CEF:0\|shieldlog\|/);
    }
  });

  test('to Splunk behind TLS, in ECS, with what the flags say', async () => {
    const listener = await hecListener({ certificate });
    onTestFinished(() => listener.stop());
    const flags = ['--hec-index', 'security', '--hec-source', 'edge', '--hec-sourcetype', 'ecs', '--hec-host', 'here'];
    const args = ['--ca', join(folder, 'ca.pem'), '--format', 'ecs', ...flags];
    expect((await feedOnce(`splunk-hec+${listener.url.href}`, args, { SHIELDLOG_SINK_TOKEN: 'hec-token' })).status).toBe(0);
    expect(listener.events).toMatchObject(
      Array.from({ length: 5 }, () => ({ index: 'security', source: 'edge', sourcetype: 'ecs', host: 'here', event: { ecs: {} } })),
    );
  });

  test('to Splunk with a wrong token ends with status 1 and says what Splunk says, but not the token', async () => {
    const listener = await hecListener();
    onTestFinished(() => listener.stop());
    const { status, stderr } = await feedOnce(`splunk-hec+${listener.url.href}`, [], { SHIELDLOG_SINK_TOKEN: 'wrong-token' });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`/services/collector/event answered 403, Splunk's code 4 "Invalid token"`),
    ]);
    expect(stderr).not.toContain('wrong-token');
  });

  test('to an HTTP receiver that refuses ends with status 1, and has not lost what was refused', async () => {
    let answers = 0;
    const listener = await httpListener(() => {
      answers += 1;
      return answers === 2 ? { status: 400, body: '{"detail":"no such stream"}' } : { status: 200 };
    });
    onTestFinished(() => listener.stop());
    const { status, stderr } = await feedOnce(listener.url.href, []);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/2 events delivered.*\nshieldlog: POST http:\S+ answered 400: no such stream\n$/s),
    ]);
    await feedOnce(listener.url.href, []);
    const taken = listener.received.filter((_request, index) => index !== 1);
    expect(taken.flatMap(({ body }) => idsIn(body))).toEqual(expectedIds(5));
  });

  test.each([
    ['is not there', 'nowhere.pem'],
    ['has no certificate', 'nonsense.pem'],
  ])('with a --ca that %s ends with status 1', async (_what, name) => {
    writeFileSync(join(folder, 'nonsense.pem'), 'nonsense');
    const { status, stderr } = await feedOnce('https://127.0.0.1:1/', ['--ca', join(folder, name)]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^shieldlog: --ca \S+ has no certificates that can be read: .+\n$/)]);
  });

  test('to a file sets files aside by size and keeps so many; a file in no folder ends with status 1', async () => {
    const { status } = await feedOnce(join(folder, 'out.ndjson'), ['--rotate-size', '1', '--rotate-name', '{stem}.{n}', '--keep', '1']);
    expect(status).toBe(0);
    const files = readdirSync(folder).filter((name) => name.startsWith('out'));
    expect(files.sort().map((name) => [name, idsIn(readFileSync(join(folder, name), 'utf8'))])).toEqual([
      ['out.2', ['e2', 'e3']],
      ['out.ndjson', ['e4']],
    ]);
    const again = await feedOnce(join(folder, 'nowhere', 'out.ndjson'), []);
    expect([again.status, again.stderr]).toEqual([1, expect.stringMatching(/^shieldlog: \S+ cannot be opened: /)]);
  });
});
