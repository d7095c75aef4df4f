// Measures how fast records of other products become events, without the store: node bench/mapping-speed.ts [rounds]
// Each line is the best of the rounds, which take all steps in turns, so that a busy machine slows none of them alone.
import { BatchBuilder } from '../ingest/event/batch-builder.ts';
import { loadMappings } from '../ingest/mapping/named-mappings.ts';
import { RecordMapper } from '../ingest/mapping/record-mapper.ts';
import { HOUR_MS } from '../query/durations.ts';

const RECORDS = 4_000;
const rounds = Number(process.argv[2] ?? 8);
const now = Date.now();

const ua = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

/** A record of AWS WAF as browsers cause it, of 2.2 KB. */
function record(index: number): Buffer {
  const group = (name: string, rule: unknown) => ({
    ruleGroupId: `AWS#AWSManagedRules${name}#Version_1.4`,
    terminatingRule: rule,
    nonTerminatingMatchingRules: [],
    excludedRules: null,
    customerConfig: null,
  });
  const headers = {
    Host: 'shop.example.com',
    'User-Agent': ua,
    Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'Accept-Language': 'en-US,en;q=0.5',
    'Accept-Encoding': 'gzip, deflate, br',
    Referer: `https://shop.example.com/products?page=${index}`,
    'Sec-Fetch-Mode': 'navigate',
    'Upgrade-Insecure-Requests': '1',
  };
  return Buffer.from(
    JSON.stringify({
      timestamp: now - index * 1_000,
      formatVersion: 1,
      webaclId: 'arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/shop/0a1b2c3d-0000-4000-8000-000000000000',
      terminatingRuleId: 'AWS-AWSManagedRulesSQLiRuleSet',
      terminatingRuleType: 'MANAGED_RULE_GROUP',
      action: 'BLOCK',
      terminatingRuleMatchDetails: [{ conditionType: 'SQL_INJECTION', location: 'QUERY_STRING', matchedData: ['1', 'union', 'select'] }],
      httpSourceName: 'ALB',
      httpSourceId: '111122223333-app/shop/0123456789abcdef',
      ruleGroupList: [
        group('AmazonIpReputationList', null),
        group('CommonRuleSet', null),
        group('SQLiRuleSet', { ruleId: 'SQLi_QUERYARGUMENTS', action: 'BLOCK', ruleMatchDetails: null }),
      ],
      rateBasedRuleList: [],
      nonTerminatingMatchingRules: [],
      requestHeadersInserted: null,
      responseCodeSent: null,
      httpRequest: {
        clientIp: `203.0.113.${index % 256}`,
        country: 'DE',
        headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
        uri: `/products/${index}/details`,
        args: `ref=mail&utm_source=x${index}&q=1%20union%20select%20password`,
        httpVersion: 'HTTP/2.0',
        httpMethod: 'GET',
        requestId: `1-${index}-0123456789abcdef01234567`,
      },
      labels: [{ name: 'awswaf:managed:aws:sql-database:SQLi_QueryArguments' }],
      ja3Fingerprint: 'f79b6bad2ad0641e1921aef10262856b',
      ja4Fingerprint: 't13d1516h2_8daaf6152771_b186095e22b6',
    }),
  );
}

const mapping = loadMappings(null).get('aws-waf')?.mapping;
if (mapping === undefined) throw new Error('there is no preset aws-waf');
const mapper = new RecordMapper(mapping, { given: 7, fallback: null, opens: () => true });

function mappedEvent(bytes: Buffer): Buffer {
  let event: Buffer | undefined;
  mapper.map(bytes, (one) => {
    if (one.kind === 'event') event = one.event;
  });
  if (event === undefined) throw new Error('a record became no event');
  return event;
}

const records = Array.from({ length: RECORDS }, (_, index) => record(index));
const events = records.map(mappedEvent);
const builder = new BatchBuilder({ now: Date.now, retentionMs: 72 * HOUR_MS });

function take(all: readonly Buffer[]): void {
  for (const event of all) builder.addEvent('http', event);
  const batch = builder.take();
  builder.release(batch);
  if (batch.eventCount !== all.length) throw new Error(`${batch.eventCount} of ${all.length} events were accepted`);
}

/** What is taken in turns, with how many bytes an item of it has. */
const STEPS: readonly (readonly [string, readonly Buffer[], () => void])[] = [
  ['JSON.parse of a record', records, () => records.forEach((bytes) => void JSON.parse(bytes.toString()))],
  ['a record mapped', records, () => records.forEach((bytes) => void mappedEvent(bytes))],
  ['a mapped event taken in', events, () => take(events)],
  ['a record mapped and taken in', records, () => take(records.map(mappedEvent))],
];
const bestUs = STEPS.map(() => Number.POSITIVE_INFINITY);
for (let round = 0; round < rounds; round++) {
  for (const [index, [, , run]] of STEPS.entries()) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    bestUs[index] = Math.min(bestUs[index] ?? 0, (user + system) / RECORDS);
  }
}
for (const [index, [name, items]] of STEPS.entries()) {
  const bytes = items.reduce((sum, item) => sum + item.length, 0) / items.length;
  const us = bestUs[index] ?? 0;
  console.log(`${name.padEnd(30)} ${us.toFixed(2)} µs of CPU  ${Math.round(1e6 / us)}/s  (${Math.round(bytes)} bytes each)`);
}
