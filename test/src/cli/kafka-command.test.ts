import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, type RunningApp, startApp } from '../running-app.ts';
import { runHere } from './command-run.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const NEEDS = 'kafka skip needs TOPIC PARTITION OFFSET, as /readyz names them';

const REWIND_NEEDS = 'kafka rewind needs --topic TOPIC and --since TIME';

it.each<[readonly string[], string]>([
  [[], 'kafka needs one of skip, rewind'],
  [['skipp', 't', '0', '1'], "'skipp' is not one of skip, rewind"],
  [['rewind'], REWIND_NEEDS],
  [['rewind', '--topic', 't'], REWIND_NEEDS],
  [['rewind', 't', '--since', '1'], `Unexpected argument 't'; ${REWIND_NEEDS}`],
  [['rewind', '--topic', 't', '--since', '1', '--to', '2'], '--to is not allowed with kafka rewind'],
  [['skip', 't', '0', '1', '--since', '2'], '--since is not allowed with kafka skip'],
  [
    ['rewind', '--topic', 't', '--since', 'yesterday'],
    '--since "yesterday" is not allowed; allowed: Unix milliseconds, a date (of UTC), ' +
      'or a time with its zone, such as 2026-12-01T18:20:00Z',
  ],
  [['skip', 't', '0'], NEEDS],
  [['skip', 't', '0', '1', '2'], `Unexpected argument '2'; ${NEEDS}`],
  [['skip', 't', 'x', '1'], 'PARTITION "x" is not allowed; allowed: a whole number 0 to 2147483647'],
  [['skip', 't', '2147483648', '1'], 'PARTITION "2147483648" is not allowed; allowed: a whole number 0 to 2147483647'],
  [['skip', 't', '0', '1.5'], 'OFFSET "1.5" is not allowed; allowed: a whole number 0 to 9223372036854775807'],
  [
    ['skip', 't', '0', '9223372036854775808'],
    'OFFSET "9223372036854775808" is not allowed; allowed: a whole number 0 to 9223372036854775807',
  ],
  [['skip', 't', '0', '1', '--to', ''], '--to "" is not allowed; allowed: a whole number 0 to 9223372036854775807'],
])('kafka %j is refused', async (args, message) => {
  expect(await runHere(['kafka', ...args])).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
});

it.each<[what: string, args: readonly string[]]>([
  ['reads nothing again', ['rewind', '--topic', 't', '--since', '2026-12-01']],
  ['skips nothing', ['skip', 't', '0', '9223372036854775807']],
])('a program without Kafka %s', async (_what, args) => {
  const { status, stderr } = await runHere(['kafka', ...args, '--url', app.url]);
  const why = 'answered 409: nothing is read from Kafka: KAFKA_BROKERS is not set';
  expect([status, stderr]).toEqual([1, `shieldlog: ${new URL(app.url).origin} ${why}\n`]);
});

it.each<[errand: string, body: string, field: string]>([
  ['rewind', '{}', 'topic'],
  ['rewind', '{"topic":"t"}', 'since'],
  ['rewind', '{"topic":"t","since":-1}', 'since'],
  ['rewind', '{"topic":"t","since":"2026-12-01"}', 'since'],
  ['rewind', '{"topic":"t","since":1,"partition":0}', 'partition'],
  ['skip', '{}', 'topic'],
  ['skip', '{"topic":"t","partition":-1,"offset":0}', 'partition'],
  ['skip', '{"topic":"t","partition":0,"offset":"1"}', 'offset'],
  ['skip', '{"topic":"t","partition":0,"offset":1,"to":1.5}', 'to'],
])('a %s with the body %s is refused at %s', async (errand, body, field) => {
  const answer = await ask(app, `/ingest/kafka/${errand}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect([answer.status, answer.body.errors[0].field]).toEqual([400, field]);
});
