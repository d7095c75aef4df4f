import { HOUR_MS } from '../../query/durations.ts';
import {
  attackerAddress,
  BOT_NET,
  BOT_NET_JA4,
  BROWSERS,
  DEMO_SITES,
  type DemoClient,
  type DemoNetwork,
  type DemoSite,
  demoAddress,
  GOOD_BOTS,
  PROBED_PATHS,
  SCANNER,
  SCANNER_NETWORK,
  SCRIPT_JA4,
  STUFFING_NETWORKS,
  VISITOR_NETWORKS,
  WORDS,
} from './demo-cast.ts';
import { ATTACK_RULES, BOT_RULES, type DemoRule, EVERYDAY_RULES, LOGIN_LIMIT } from './demo-rules.ts';
import type { DemoAttack } from './demo-schedule.ts';
import type { Random } from './seeded-random.ts';

/** A request and the shield's action on it. */
interface DemoRequest {
  readonly site: DemoSite;
  readonly path: string;
  readonly network: DemoNetwork;
  readonly ip: string;
  readonly client: DemoClient;
  readonly rule: DemoRule;
  readonly action: string;
  readonly body: string;
}

const EDGE_LOCATIONS = ['DE', 'UK', 'NY', 'LA', 'SG', 'JP', 'BR'];

/** Makes a raw event of an attack or, with null, of everyday traffic, as an edge server would send it. */
export function demoEvent(logId: string, timestampMs: number, attack: DemoAttack | null, random: Random): string {
  const request = requestOf(attack, timestampMs, random);
  const { site, path, network, ip, client, rule, action, body } = request;
  const url = `https://${site.host}${path}`;
  const headers = { Host: site.host, 'User-Agent': client.ua, Accept: '*/*', 'Accept-Encoding': 'gzip, br', 'X-Forwarded-Proto': 'https' };
  const log = {
    ServerZoneId: random.pick(EDGE_LOCATIONS),
    Message: rule.message,
    Url: url,
    RemoteIp: ip,
    Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
    TriggerMatch: { Key: rule.key, Value: rule.value },
    UrlEncodedBody: body,
  };
  const { feature, ruleId, ruleName } = rule;
  const { asn, country } = network;
  const clientFields = { ip, ja4: client.ja4, ua: client.ua, url, asn, country };
  return JSON.stringify({
    logId,
    shieldZoneId: site.zoneId,
    timestamp: timestampMs,
    feature,
    ruleId,
    ruleName,
    ...clientFields,
    action,
    log,
  });
}

function requestOf(attack: DemoAttack | null, timestampMs: number, random: Random): DemoRequest {
  switch (attack) {
    case 'scan':
      return scan(timestampMs, random);
    case 'stuffing':
      return stuffing(random);
    case 'bot net':
      return botNet(random);
    case null:
      return everyday(random);
  }
}

/** One address, the same for the whole scan, probes many paths. */
function scan(timestampMs: number, random: Random): DemoRequest {
  const site = DEMO_SITES[3] as DemoSite;
  const path = `${random.pick(PROBED_PATHS)}${random.chance(40) ? `?id=${random.below(10_000)}` : ''}`;
  const ip = `${SCANNER_NETWORK.prefix}.${10 + (Math.floor(timestampMs / HOUR_MS) % 200)}`;
  const action = random.chance(92) ? 'blocked' : 'logged';
  return { site, path, network: SCANNER_NETWORK, ip, client: SCANNER, rule: random.pick(ATTACK_RULES), action, body: '' };
}

/** Many addresses and many user agents request one login page. */
function stuffing(random: Random): DemoRequest {
  const site = DEMO_SITES[0] as DemoSite;
  const network = random.pick(STUFFING_NETWORKS);
  const client = { ua: random.pick(BROWSERS).ua.replace('138.0', `${110 + random.below(30)}.0`), ja4: SCRIPT_JA4 };
  const body = `username=${random.pick(WORDS)}${random.below(90_000)}%40example.com&password=${random.below(1e9).toString(36)}`;
  const action = random.chance(75) ? 'challenged' : 'blocked';
  const ip = attackerAddress(network, random, { hosts: 1500, busyHosts: 2 });
  return { site, path: '/login', network, ip, client, rule: LOGIN_LIMIT, action, body };
}

/** Thousands of addresses of one network have the same handshake. */
function botNet(random: Random): DemoRequest {
  const site = random.pick(DEMO_SITES.slice(0, 2));
  const client = { ua: random.pick(BROWSERS).ua, ja4: BOT_NET_JA4 };
  const path = fill(random.pick(site.paths), random);
  const action = random.pick(['blocked', 'blocked', 'challenged']);
  const ip = attackerAddress(BOT_NET, random, { hosts: 6000, busyHosts: 6 });
  return { site, path, network: BOT_NET, ip, client, rule: random.pick(BOT_RULES), action, body: '' };
}

function everyday(random: Random): DemoRequest {
  // The smaller of two draws makes the first sites the busiest.
  const site = DEMO_SITES[Math.min(random.below(DEMO_SITES.length), random.below(DEMO_SITES.length))] as DemoSite;
  const network = random.pick(VISITOR_NETWORKS);
  const breaksAttackRule = random.chance(12);
  const [rule, actions] = breaksAttackRule ? [random.pick(ATTACK_RULES), ['blocked', 'blocked', 'logged']] : random.pick(EVERYDAY_RULES);
  const client = rule.ruleId === 'bot-verified' ? random.pick(GOOD_BOTS) : random.pick(BROWSERS);
  const path = fill(random.pick(site.paths), random);
  return { site, path, network, ip: demoAddress(network, random, 4000), client, rule, action: random.pick(actions), body: '' };
}

function fill(path: string, random: Random): string {
  return path.replace('{n}', () => String(1 + random.below(900))).replace('{w}', () => encodeURIComponent(random.pick(WORDS)));
}
