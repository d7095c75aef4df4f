import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { processorMs } from '../compare/processor-time.ts';
import { inEmptyDataDir } from '../events/event-file.ts';
import { ATTACK_ID, attackOf, attackRuleId } from '../events/paced-events.ts';
import { count, ms, percentile } from '../report/figures.ts';
import type { EventSenderReport } from '../subjects/event-sender-subject.ts';
import { forkSubject } from '../subjects/fork-subject.ts';
import { ATTACK_EVENTS, measuredSet, type RuleDocument, rareRule } from './rule-sets.ts';
import { RuledProgram } from './ruled-program.ts';

export interface DeliveryOptions {
  /** Events a second. */
  readonly rate: number;
  readonly seconds: number;
  /** One alert each. A rule tells once a minute, so that each has a rule of its own. */
  readonly attacks: number;
  readonly batch: number;
  readonly memoryLimitMb: number;
  readonly tell: (what: string) => void;
}

const RECEIVER = 'bench';
const LONGEST_DELIVERY_MS = 60_000;
const POLL_MS = 100;
const WITH_FACTS = 'with facts';

const nowMs = (): number => performance.timeOrigin + performance.now();

interface Told {
  readonly atMs: number;
  /** Whether the message says what the events of the attack have, or why it does not. */
  readonly facts: string;
}

/** A receiver of messages about attacks. */
class Receiver implements AsyncDisposable {
  /** By the names of rules. */
  readonly told = new Map<string, Told>();
  readonly #server = createServer(async (request, response) => {
    const atMs = nowMs();
    this.#take(await bodyOf(request), atMs);
    response.end('ok');
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(body: string, atMs: number): void {
    const { rule, alerts } = JSON.parse(body) as { readonly rule: string; readonly alerts: readonly { readonly withoutFacts?: string }[] };
    if (!this.told.has(rule)) this.told.set(rule, { atMs, facts: alerts[0]?.withoutFacts ?? WITH_FACTS });
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return body;
}

/**
 * The time from the answer of the intake to the last event that an attack needs until the receiver has the message, while events come in
 * steadily and eight usual rules are followed, too. Throws where an attack is not told.
 */
export async function ruleDelivery(options: DeliveryOptions) {
  const { rate, seconds, batch, memoryLimitMb, tell } = options;
  const attacks = { count: options.attacks, events: ATTACK_EVENTS };
  const rules = [...measuredSet('eight usual rules', attacks).documents.slice(1), ...attackRules(options.attacks)];
  await using receiver = new Receiver();
  const receivers = JSON.stringify({ [RECEIVER]: { kind: 'webhook', url: await receiver.listen() } });
  return await inEmptyDataDir('rules', async (dataDir) => {
    await using program = await RuledProgram.start({ dataDir, rules, receivers, memoryLimitMb });
    const send = (order: object) =>
      forkSubject<EventSenderReport>('event-sender-subject.ts', { url: program.url, zones: 1_700, rate, batch, told: ATTACK_ID, ...order });
    tell(`${count(rate)} events/s for ${seconds} s with ${attacks.count} attacks`);
    await program.rested((await send({ seed: 1, events: 2 * rate })).endedAtMs);
    const [before, own] = [await program.threadTimes(), process.cpuUsage()];
    const report = await send({ seed: 2, events: rate * seconds, attacks });
    const whileSending = processorMs(before, await program.threadTimes());
    const { user, system } = process.cpuUsage(own);
    const waits = await waitsOf(report, receiver, attacks.count);
    const tookMs = (rate * seconds * 1_000) / report.eventsPerSecond;
    const shares = { program: whileSending / tookMs, sender: report.coreShare, receiver: (user + system) / 1_000 / tookMs };
    const byFacts = Map.groupBy(waits, ({ facts }) => (facts === WITH_FACTS ? facts : `without: ${facts}`));
    const rows = [['all', waits] as const, ...byFacts];
    return {
      eventsPerSecond: report.eventsPerSecond,
      shares,
      header: ['messages', 'count', 'p50', 'p99', 'longest'],
      rows: rows.map(([name, some]) => {
        const times = some.map(({ waitMs }) => waitMs);
        return [name, String(times.length), ...[0.5, 0.99, 1].map((share) => (times.length === 0 ? '' : ms(percentile(times, share))))];
      }),
    };
  });
}

/** A rule for each attack, like the one for all. */
function attackRules(attacks: number): RuleDocument[] {
  const ofAll = rareRule({ count: attacks, events: ATTACK_EVENTS });
  return Array.from({ length: attacks }, (_, nth) => {
    return { ...ofAll, name: attackRuleId(nth), search: `ruleId:${attackRuleId(nth)}`, receivers: [RECEIVER] };
  });
}

/** How long each attack took until it was told, from the answer to the last of its events. */
async function waitsOf({ sent }: EventSenderReport, { told }: Receiver, attacks: number) {
  const storedAtMs = new Map<number, number>();
  for (const { answeredAtMs, logIds } of sent) {
    for (const attack of new Set(logIds.map(attackOf))) storedAtMs.set(attack, Math.max(answeredAtMs, storedAtMs.get(attack) ?? 0));
  }
  for (const beganMs = nowMs(); told.size < attacks; await delay(POLL_MS)) {
    if (nowMs() - beganMs > LONGEST_DELIVERY_MS) throw new Error(`${told.size} of ${attacks} attacks were told`);
  }
  return Array.from(storedAtMs, ([attack, atMs]) => {
    const { atMs: toldAtMs, facts } = told.get(attackRuleId(attack)) as Told;
    return { waitMs: toldAtMs - atMs, facts };
  });
}
