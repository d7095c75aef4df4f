import { HOUR_MS } from '../../query/durations.ts';
import { receiverClient } from '../alerts/receiver-client.ts';
import { readReceivers } from '../alerts/receiver-file.ts';
import { type AlertMessage, type ToldAlert, toldAlert } from '../alerts/told-alerts.ts';
import { loadConfig } from '../config/config.ts';
import { type CommandIo, type ExitStatus, UsageError } from './command.ts';

export const RECEIVERS_FLAG = 'alert-receivers';

/** An alert that never was, with an address that documentation has. Each test has its own, by its time. */
function madeUpMessage(state: ToldAlert['state'], nowMs: number): AlertMessage {
  const rule = { name: 'send-test', version: 'test', severity: 'info', labels: {}, by: ['ip'], zones: 'all' } as const;
  const alert = {
    id: nowMs.toString(16).padStart(32, '0'),
    nth: 1,
    group: [{ text: '192.0.2.1' }],
    windowMs: nowMs - HOUR_MS,
    fromMs: nowMs - HOUR_MS,
    toMs: nowMs,
    hits: 1,
    completedAtMs: nowMs,
    toldAtMs: nowMs,
    resolvesAtMs: nowMs,
    resolvedAtMs: state === 'resolved' ? nowMs : null,
    isBounded: false,
  };
  const told = toldAlert({ seq: 0, state, rule, alert, earlyEnd: null, queuedAtMs: nowMs }, { link: null, facts: null });
  return { rule, alerts: [{ ...told, sentence: (show) => `This is a test. ${told.sentence(show)}` }], more: 0 };
}

/** Sends a made-up alert to a receiver of the file, and prints what it answers. One that keeps alerts open is told that it is resolved. */
export async function sendTest(name: string, flags: Readonly<Record<string, string>>, io: CommandIo): Promise<ExitStatus> {
  const { alertReceivers: file } = loadConfig({ ALERT_RECEIVERS: io.env['ALERT_RECEIVERS'] }, flags);
  if (file === null) throw new UsageError(`alerts send-test needs ALERT_RECEIVERS or --${RECEIVERS_FLAG}, the file of the receivers`);
  const receivers = readReceivers(file, io.env);
  const receiver = receivers.find((one) => one.name === name);
  if (receiver === undefined) {
    throw new UsageError(`${JSON.stringify(name)} is no receiver; allowed: ${receivers.map((one) => one.name).join(', ')}`);
  }
  const client = receiverClient(receiver, Date.now);
  try {
    const nowMs = Date.now();
    for (const state of client.telling === 'summed' ? (['told'] as const) : (['told', 'resolved'] as const)) {
      const answer = await client.deliver(madeUpMessage(state, nowMs), new AbortController().signal);
      io.stdout.write(`${name}, ${state}: ${answer}\n`);
    }
    return 0;
  } finally {
    client.close();
  }
}
