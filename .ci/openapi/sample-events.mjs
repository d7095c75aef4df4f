// Prints some events of the past hour as NDJSON, in the zone of the document's examples and in another.
const now = Date.now();
for (let index = 0; index < 200; index += 1) {
  const event = {
    logId: `sample-${index}`,
    shieldZoneId: index % 5 === 0 ? 1 : 7,
    timestamp: now - index * 15_000,
    feature: index % 3 === 0 ? 'waf' : 'api-guardian',
    ruleId: String(942_100 + (index % 7)),
    ip: index % 2 === 0 ? `192.0.2.${index}` : `2001:db8::${index}`,
    url: `https://shop.example/login?try=${index}`,
    asn: 64_500 + (index % 4),
    country: 'CH',
    action: index % 4 === 0 ? 'logged' : 'blocked',
    log: { RemoteIp: '192.0.2.7' },
  };
  process.stdout.write(`${JSON.stringify(event)}\n`);
}
