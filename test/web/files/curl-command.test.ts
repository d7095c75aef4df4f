import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlCommand } from '../../../web/files/curl-command.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';

const URL = 'http://127.0.0.1:8080/shield/event-logs/1,7/explore';

/** What curl would get: a function of its name, in a real shell, writes its arguments with a NUL behind each. */
function argumentsOf(command: string): readonly string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}\n`;
  const written = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { SHIELDLOG_ACCESS_KEY: 'se cret' } });
  return written.split('\0').slice(0, -1);
}

test('whatever a search holds, the shell runs curl once with exactly its body', () => {
  const texts = [...HOSTILE_STRINGS.map(({ text }) => text), "'; touch /tmp/x; '", '$(id) `id` $HOME !!', "\\'", "''"];
  const body = { query: texts.join(' '), filters: [{ field: 'ua', op: 'in', value: texts }] };
  const [silent, url, json, text, ...others] = argumentsOf(curlCommand({ url: URL, body, needsKey: false }));
  expect([silent, url, json, others]).toEqual(['-sS', URL, '--json', []]);
  expect(JSON.parse(text ?? '')).toEqual(body);
});

test('what has no body is a GET, and a stream is written as it comes', () => {
  const command = curlCommand({ url: URL, accept: 'text/event-stream', needsKey: false, isStream: true });
  expect(argumentsOf(command)).toEqual(['-sSN', URL, '-H', 'accept: text/event-stream']);
});

test('the access key is taken from the environment, and never written', () => {
  const command = curlCommand({ url: URL, body: {}, accept: 'text/csv', needsKey: true });
  expect(argumentsOf(command)).toEqual(['-sS', URL, '-H', 'AccessKey: se cret', '-H', 'accept: text/csv', '--json', '{}']);
});
