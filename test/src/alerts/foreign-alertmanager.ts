import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { receiverClient } from '../../../src/alerts/receiver-client.ts';
import { sampleAlert, sampleMessage, sampleReceiver, sampleSent } from './sample-alerts.ts';

/**
 * `node foreign-alertmanager.ts COMMAND` has the Alertmanager of others told of alerts, and asks it which of them are open. A line begins
 * with `passed: ` or `failed: ` for each check.
 */
const [command = ''] = process.argv.slice(2);
const MINUTE = 60_000;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a listening socket has no port');
  return address.port;
}

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-alertmanager-'));
const config = join(folder, 'alertmanager.yml');
writeFileSync(config, 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
const address = `127.0.0.1:${await freePort()}`;
const options = [`--web.listen-address=${address}`, '--cluster.listen-address=', '--log.level=error'];
const child = spawn(command, [`--config.file=${config}`, `--storage.path=${folder}`, ...options], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
const ended = once(child, 'exit');

async function isReady(): Promise<boolean> {
  return await fetch(`http://${address}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

interface OpenAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

async function openAlerts(): Promise<readonly OpenAlert[]> {
  const answer = await fetch(`http://${address}/api/v2/alerts`);
  return (await answer.json()) as OpenAlert[];
}

function check(what: string, holds: boolean): void {
  process.stdout.write(`${holds ? 'passed' : 'failed'}: alertmanager ${what}\n`);
}

/** Asks until as many alerts are open: it takes them in beside its answer. */
async function untilOpen(count: number): Promise<readonly OpenAlert[]> {
  let open = await openAlerts();
  for (let attempts = 0; open.length !== count && attempts < 300; attempts += 1) {
    await sleep(100);
    open = await openAlerts();
  }
  return open;
}

try {
  while (child.exitCode === null && !(await isReady())) await sleep(100);
  const client = receiverClient(sampleReceiver('alertmanager', new URL(`http://${address}`)), Date.now);
  const signal = AbortSignal.timeout(60_000);
  const nowMs = Date.now();
  const times = { fromMs: nowMs - MINUTE, toMs: nowMs + 9 * MINUTE, completedAtMs: nowMs, toldAtMs: nowMs };
  const hostile = '{{ .Labels }}<!channel>"\n\u0000';
  const told = [1, 2, 3].map((nth) => {
    const changed = nth === 3 ? { ...times, group: [{ text: hostile }] } : times;
    return sampleMessage(nth, { alert: sampleAlert(nth, changed) });
  });
  const resolved = sampleMessage(1, { state: 'resolved', alert: sampleAlert(1, { ...times, resolvedAtMs: nowMs }) });

  await client.deliver(sampleSent(...told), signal);
  const open = await untilOpen(3);
  check('has every alert of an array open', open.length === 3);
  const first = open.find(({ labels }) => labels['alert_id'] === told[0]?.alert.id);
  check('knows an alert by its labels', first?.labels['alertname'] === 'credential-stuffing' && first.labels['ip'] === '192.0.2.1');
  const values = open.map(({ labels }) => labels['ip']);
  check('has the value of an attacker as it is shown', values.includes('{{ .Labels }}<!channel>"\\u000a\\u0000'));

  await client.deliver(sampleSent(...told), signal);
  check('has an alert that is sent again once', (await untilOpen(3)).length === 3);

  await client.deliver(sampleSent(resolved), signal);
  const left = (await untilOpen(2)).map(({ labels }) => labels['alert_id']);
  check('closes what is resolved, and nothing else', left.length === 2 && !left.includes(resolved.alert.id));

  const future = { ...times, fromMs: nowMs + 5 * MINUTE, toMs: nowMs + 15 * MINUTE };
  await client.deliver(
    sampleSent(sampleMessage(4, { state: 'resolved', alert: sampleAlert(4, { ...future, resolvedAtMs: nowMs }) })),
    signal,
  );
  check('takes the resolution of an alert that begins ahead of the clock', (await untilOpen(2)).length === 2);
  client.close();
} finally {
  child.kill();
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
