import { MINUTE_MS } from '../../query/durations.ts';
import { SeededRandom, skewedChoice } from './seeded-random.ts';
import { ACTIONS, COUNTRIES, FEATURES, JA4, PATHS, RULES, USER_AGENTS } from './traffic-pools.ts';

export interface GeneratorOptions {
  readonly seed: number;
  readonly count: number;
  /** Zones 1 to this, by Zipf's law: of 1,700 the first has an eighth of all events. */
  readonly zones: number;
  /** Unix milliseconds at which the events end. */
  readonly nowMs: number;
  /** Milliseconds over which the events are spread. */
  readonly spanMs: number;
}

const CLIENTS = 400_000;
/** Attacks on one zone by one network with one rule: `length` events in a row, once in `every` events. */
const BURST = { length: 400, every: 20_000 } as const;
/** Random bytes in every log. As base64 they are 400 bytes, which compress to 300. */
const BODY_BYTES = 300;

/**
 * Security events as NDJSON, one line of about 1.1 KB at a time, in the order of time except for one in twenty, which is late. The same
 * options give the same bytes.
 */
export function* generateEvents({ seed, count, zones, nowMs, spanMs }: GeneratorOptions): Iterable<Buffer> {
  const random = new SeededRandom(seed);
  const zoneOf = skewedChoice(zones);
  const clientOf = skewedChoice(CLIENTS);
  const agentOf = skewedChoice(USER_AGENTS.length);
  const ruleOf = skewedChoice(RULES.length);
  const stepMs = spanMs / count;
  for (let index = 0; index < count; index += 1) {
    const inBurst = index % BURST.every < BURST.length && index >= BURST.every;
    const burst = Math.floor(index / BURST.every);
    const client = inBurst ? burst * 31 + random.below(64) : clientOf(random);
    const late = random.below(20) === 0 ? random.below(10 * MINUTE_MS) : random.below(2_000);
    const rule = RULES[inBurst ? burst % RULES.length : ruleOf(random)];
    yield eventLine(random, {
      zone: inBurst ? 1 + (burst % Math.min(10, zones)) : 1 + zoneOf(random),
      timestamp: Math.max(nowMs - spanMs, Math.floor(nowMs - spanMs + index * stepMs - late)),
      ip: inBurst ? `203.${burst % 256}.113.${client % 256}` : clientAddress(client),
      client,
      agent: USER_AGENTS[inBurst ? 7 : agentOf(random)] ?? '',
      ruleId: rule?.id ?? '',
      ruleName: rule?.name ?? '',
      action: inBurst ? 'blocked' : (ACTIONS[random.below(ACTIONS.length)] ?? 'logged'),
    });
  }
}

interface Draft {
  readonly zone: number;
  readonly timestamp: number;
  readonly ip: string;
  readonly client: number;
  readonly agent: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly action: string;
}

/** Concatenates the line, because nothing in it needs escaping and JSON.stringify takes several times as long. */
function eventLine(random: SeededRandom, { zone, timestamp, ip, client, agent, ruleId, ruleName, action }: Draft): Buffer {
  const host = `https://zone-${zone}.example`;
  const path = PATHS[random.below(PATHS.length)] ?? '/';
  const url = `${host}${path}?id=${random.uint32()}&session=${random.hex(8)}`;
  const feature = FEATURES[client % FEATURES.length] ?? 'waf';
  const country = COUNTRIES[client % COUNTRIES.length] ?? '';
  const asn = 1_000 + (client % 900);
  const request = `"ip":"${ip}","ja4":"${JA4[client % JA4.length]}","ua":"${agent}","url":"${url}","asn":"${asn}","country":"${country}"`;
  const logId = random.hex(16);
  const headers = `[{"Name":"Host","Value":"zone-${zone}.example"},{"Name":"Accept","Value":"*/*"}]`;
  const log =
    `{"ServerZoneId":${zone},"Message":"${ruleName} by rule ${ruleId}","RemoteIp":"${ip}","Headers":${headers},` +
    `"TriggerMatch":{"Key":"ARGS:id","Value":"${random.uint32()}"},"UrlEncodedBody":"${random.base64(BODY_BYTES)}"}`;
  return Buffer.from(
    `{"logId":"${logId}","shieldZoneId":${zone},"timestamp":${timestamp},"feature":"${feature}","ruleId":"${ruleId}",` +
      `"ruleName":"${ruleName}",${request},"action":"${action}","log":${log}}\n`,
  );
}

/** The address of a client. It is always the same; one client in five has an IPv6 address. */
function clientAddress(client: number): string {
  const mixed = Math.imul(client + 1, 0x9e3779b1) >>> 0;
  if (client % 5 === 4) {
    return `2001:db8:${(mixed >>> 16).toString(16)}:${(mixed & 0xffff).toString(16)}::${(client & 0xffff).toString(16)}`;
  }
  return `${1 + ((mixed >>> 24) % 223)}.${(mixed >>> 16) & 255}.${(mixed >>> 8) & 255}.${mixed & 255}`;
}
