import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { httpListener, type Reaction } from '../sinks/http-listener.ts';
import { runHere } from './command-run.ts';

async function receiversAt(reaction: Reaction) {
  const listener = await httpListener(() => reaction);
  onTestFinished(() => listener.stop());
  const file = join(temporaryFolder(), 'receivers.yaml');
  const [webhook, pager] = [`kind: webhook\n  url: ${listener.url}`, `kind: pagerduty\n  url: ${listener.url}\n  routing_key: \${KEY}`];
  writeFileSync(file, `soc:\n  ${webhook}\npager:\n  ${pager}\n`);
  return { file, listener };
}

test('a receiver is sent a made-up alert, and its answer is printed; one that keeps it open is told that it is resolved', async () => {
  const { file, listener } = await receiversAt({ status: 202, body: 'thanks' });
  expect(await runHere(['alerts', 'send-test', 'soc', '--alert-receivers', file], { KEY: 'my-secret-key' })).toEqual({
    status: 0,
    stdout: 'soc, told: webhook answered 202: thanks\n',
    stderr: '',
  });
  expect(await runHere(['alerts', 'send-test', 'pager'], { ALERT_RECEIVERS: file, KEY: 'my-secret-key' })).toMatchObject({
    status: 0,
    stdout: 'pager, told: pagerduty answered 202: thanks\npager, resolved: pagerduty answered 202: thanks\n',
  });
  const [webhook, triggered, resolved] = listener.received.map(({ body }) => JSON.parse(body));
  expect(webhook).toMatchObject({ rule: 'send-test', alerts: [{ sentence: expect.stringMatching(/^This is a test\. Alert send-test/) }] });
  expect([triggered.event_action, resolved.event_action]).toEqual(['trigger', 'resolve']);
  expect(triggered.dedup_key).toBe(resolved.dedup_key);
});

test('a receiver that refuses ends it with its answer', async () => {
  const { file } = await receiversAt({ status: 403, body: 'my-secret-key is wrong' });
  const { status, stdout, stderr } = await runHere(['alerts', 'send-test', 'pager', '--alert-receivers', file], { KEY: 'my-secret-key' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^shieldlog: receiver pager: POST http:\/\/127\.0\.0\.1:\d+ answered 403: … is wrong\n$/);
});

test('without the file of the receivers nothing is sent', async () => {
  expect(await runHere(['alerts', 'send-test', 'soc'])).toMatchObject({
    status: 2,
    stderr: 'shieldlog: alerts send-test needs ALERT_RECEIVERS or --alert-receivers, the file of the receivers\n',
  });
});

test('a name that no receiver has is refused, and so is a wrong file', async () => {
  const { file } = await receiversAt({ status: 200 });
  expect(await runHere(['alerts', 'send-test', 'nobody', '--alert-receivers', file], { KEY: 'k' })).toMatchObject({
    status: 2,
    stderr: 'shieldlog: "nobody" is no receiver; allowed: soc, pager\n',
  });
  expect(await runHere(['alerts', 'send-test', 'soc', '--alert-receivers', file])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('line 7: routing_key of pager is not allowed: the environment has no KEY'),
  });
});
