import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readReceivers } from '../../../src/alerts/receiver-file.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { testCertificate } from '../sinks/test-certificate.ts';

const ENV = {
  SLACK_URL: 'https://hooks.slack.example/services/T00/B00/secret-part',
  IN_THE_CLEAR: 'http://hooks.slack.example/services/T00/B00/secret-part',
  SIGNING: 'signing-secret',
  KEY: 'routing-key',
  WITH_BLANK: 'not a secret',
  WITH_USER: 'https://me:my-password@soc.example/',
  EMPTY: '',
};

const NO_SECRETS = { signingSecret: null, token: null, routingKey: null };

function fileWith(text: string): string {
  const file = join(temporaryFolder(), 'receivers.yaml');
  writeFileSync(file, text);
  return file;
}

function faultsOf(text: string): readonly string[] {
  const file = fileWith(text);
  try {
    readReceivers(file, ENV);
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.replace(`ALERT_RECEIVERS=${JSON.stringify(file)}`, 'FILE'));
  }
  return [];
}

test('the receivers of a file have their secrets from the environment and from files', async () => {
  const folder = temporaryFolder();
  const [token, ca] = [join(folder, 'token'), join(folder, 'ca.pem')];
  writeFileSync(token, 'a-token\n');
  writeFileSync(ca, (await testCertificate()).cert);
  const text = [
    `soc:\n  kind: webhook\n  url: https://soc.example/alerts\n  secret: \${SIGNING}`,
    `people:\n  kind: slack\n  url: \${SLACK_URL}\n  ca_file: ${ca}`,
    `am:\n  kind: alertmanager\n  url: https://am.example/prefix/\n  token_file: ${token}`,
    'inside:\n  kind: alertmanager\n  url: http://alertmanager:9093',
    `pager:\n  kind: pagerduty\n  routing_key: \${KEY}`,
    `here:\n  kind: webhook\n  url: http://127.0.0.1:9000\n  token: \${SIGNING}`,
  ].join('\n');
  expect(readReceivers(fileWith(text), ENV).map(({ url, ca: _, ...others }) => ({ ...others, url: url.href }))).toEqual([
    {
      name: 'soc',
      kind: 'webhook',
      url: 'https://soc.example/alerts',
      ...NO_SECRETS,
      signingSecret: 'signing-secret',
      secrets: ['signing-secret'],
    },
    {
      name: 'people',
      kind: 'slack',
      url: ENV.SLACK_URL,
      ...NO_SECRETS,
      secrets: [ENV.SLACK_URL, '/services/T00/B00/secret-part', 'services', 'secret-part'],
    },
    { name: 'am', kind: 'alertmanager', url: 'https://am.example/prefix/', ...NO_SECRETS, token: 'a-token', secrets: ['a-token'] },
    { name: 'inside', kind: 'alertmanager', url: 'http://alertmanager:9093/', ...NO_SECRETS, secrets: [] },
    {
      name: 'pager',
      kind: 'pagerduty',
      url: 'https://events.pagerduty.com/v2/enqueue',
      ...NO_SECRETS,
      routingKey: 'routing-key',
      secrets: ['routing-key'],
    },
    {
      name: 'here',
      kind: 'webhook',
      url: 'http://127.0.0.1:9000/',
      ...NO_SECRETS,
      token: 'signing-secret',
      secrets: ['signing-secret'],
    },
  ]);
});

const SECRET_FORMS = (member: string) =>
  `allowed: ${member}: \${NAME} with the name of a variable of the environment, or ${member}_file: with the path of a file`;

test.each<[string, string]>([
  ['- soc', 'line 1: the file has a list; allowed: at most 100 receivers, each under its name'],
  ['a b:\n  kind: slack', 'line 1: "a b" is no name of a receiver; allowed: 1 to 64 letters, digits, dots, dashes and underscores'],
  ['$zone:\n  kind: slack', 'line 1: "$zone" is no name of a receiver'],
  ['soc: https://soc.example', 'line 1: soc has no members; allowed: kind and url'],
  ['soc:\n  url: https://soc.example', 'line 1: kind of soc is missing; allowed: webhook, slack, alertmanager, pagerduty'],
  ['soc:\n  kind: mail', 'line 2: kind of soc is "mail"; allowed: webhook, slack, alertmanager, pagerduty'],
  [
    `soc:\n  kind: slack\n  token: \${KEY}`,
    'line 3: "token" is no member of a receiver of the kind slack; allowed: kind, url, url_file, ca_file',
  ],
  ['soc:\n  kind: webhook', `line 1: url of soc is missing; ${SECRET_FORMS('url')}`],
  ['soc:\n  kind: webhook\n  url: soc.example', 'line 3: the url of soc is not allowed: it is no URL; allowed: an http: or https: URL'],
  [
    'soc:\n  kind: webhook\n  url: https://soc.example/?key=my-secret',
    'line 3: the url of soc is not allowed: it has a query or a fragment',
  ],
  ['soc:\n  kind: webhook\n  url: https://me:my-secret@soc.example/', 'line 3: the url of soc is not allowed: it holds a user name'],
  ['soc:\n  kind: webhook\n  url: ftp://soc.example/', 'line 3: the url of soc is not allowed: its scheme is not http or https'],
  [
    `soc:\n  kind: webhook\n  url: \${WITH_USER}`,
    'line 1: the url of soc is not allowed; allowed: an http: or https: URL without credentials',
  ],
  [
    'soc:\n  kind: slack\n  url: https://hooks.slack.example/my-secret',
    `line 3: url of soc is not allowed: it is a secret, and stands in no file that others read; ${SECRET_FORMS('url')}`,
  ],
  [`soc:\n  kind: slack\n  url: \${IN_THE_CLEAR}`, 'line 1: the url of soc is one of http:, and it would send its secrets in the clear'],
  [
    `soc:\n  kind: webhook\n  url: http://soc.example\n  token: \${KEY}`,
    'line 1: the url of soc is one of http:, and it would send its secrets in the clear',
  ],
  [`soc:\n  kind: slack\n  url: \${MISSING}`, 'line 3: url of soc is not allowed: the environment has no MISSING'],
  [`soc:\n  kind: slack\n  url: \${EMPTY}`, 'line 3: url of soc is not allowed: the environment has no EMPTY'],
  ['soc:\n  kind: slack\n  url_file: /no/such/file', 'line 3: url_file of soc is not allowed: no such file or directory'],
  ['soc:\n  kind: slack\n  url_file:', 'line 3: url_file of soc is not allowed: it names no file'],
  [`soc:\n  kind: slack\n  url: \${SLACK_URL}\n  url_file: /a`, 'line 4: soc has url and url_file; allowed: one of them'],
  ['soc:\n  kind: webhook\n  url: https://soc.example\n  secret: my-secret', 'line 4: secret of soc is not allowed: it is a secret'],
  [
    `soc:\n  kind: webhook\n  url: https://soc.example\n  secret: \${WITH_BLANK}`,
    'line 4: secret of soc is not allowed: what it names is not 1 to 4096',
  ],
  ['soc:\n  kind: webhook\n  url: https://soc.example\n  ca_file: /dev/null', 'line 4: ca_file of soc is not allowed: the file is empty'],
  ['soc:\n  kind: pagerduty', `line 1: routing_key of soc is missing; ${SECRET_FORMS('routing_key')}`],
  ['soc: {', 'line 1: '],
])('%j is refused with its file and line, and without its secret', (text, fault) => {
  const [first, ...others] = faultsOf(text);
  expect(first).toMatch(/^FILE: line \d/);
  expect(first).toContain(`FILE: ${fault}`);
  expect(others).toEqual([]);
  expect(first).not.toMatch(/my-secret|my-password|secret-part|not a secret/);
});

test('each wrong receiver has a line, and a file that is not there has one', () => {
  expect(faultsOf('one:\n  kind: mail\ntwo:\n  kind: post')).toHaveLength(2);
  expect(() => readReceivers('/no/such/file', ENV)).toThrow(
    'ALERT_RECEIVERS="/no/such/file" cannot be read: no such file or directory; allowed: the path of a YAML file',
  );
});
