import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { addressOf, type CliProcess, runCli, startCli } from '../cli/cli-process.ts';
import { eventLine } from '../running-app.ts';
import { httpListener, type Reaction } from '../sinks/http-listener.ts';

const RULE = 'name: seven\nzones: [7]\nby: ip\nkind: count\nat_least: 1\nwindow: 10m\nreceivers: soc\n';

test('a program that is killed while a receiver answers tells the same alert again after its start, and then no more', async () => {
  const folder = temporaryFolder();
  const [ALERTS, ALERT_RECEIVERS] = [join(folder, 'rules'), join(folder, 'receivers.yaml')];
  let program: CliProcess | undefined;
  const reactions: (() => Reaction)[] = [
    () => {
      program?.child.kill('SIGKILL');
      return 'silent';
    },
  ];
  const listener = await httpListener(() => reactions.shift()?.() ?? { status: 200 });
  onTestFinished(() => listener.stop());
  mkdirSync(ALERTS);
  writeFileSync(join(ALERTS, 'seven.yaml'), RULE);
  writeFileSync(ALERT_RECEIVERS, `soc:\n  kind: webhook\n  url: ${listener.url}\n`);
  const start = () => startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data')], { ALERTS, ALERT_RECEIVERS });

  program = start();
  await fetch(`${await addressOf(program)}/ingest/events`, { method: 'POST', body: eventLine({ ip: '192.0.2.1' }) });
  expect(await program.ended).toBeNull();
  program = start();
  const address = await addressOf(program);
  await expect.poll(() => listener.received).toHaveLength(2);
  const ids = listener.received.map(({ body }) => JSON.parse(body).alerts.map(({ id }: { id: string }) => id));
  expect(ids[1]).toEqual(ids[0]);
  const listed = async () => (await fetch(`${address}/alerts`)).json();
  await expect.poll(listed).toMatchObject({ alerts: [{ id: ids[0]?.[0] }], deliveries: [{ outcome: 'delivered' }] });
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
  expect(listener.received).toHaveLength(2);
});

test('a wrong file of receivers ends the start, with its line and without its secret', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'receivers.yaml');
  writeFileSync(file, 'people:\n  kind: slack\n  url: https://hooks.slack.example/services/my-secret\n');
  const ended = await runCli(['serve', '--port', '0', '--data-dir', folder, '--alert-receivers', file]);
  expect(ended).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('line 3: url of people is not allowed') });
  expect(ended.stderr).not.toContain('my-secret');
});
