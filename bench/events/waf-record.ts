const ua = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

/** A record of AWS WAF as browsers cause it, of 2.2 KB. Its number makes it another record than the others. */
export function wafRecord(index: number, timeMs: number): Buffer {
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
      timestamp: timeMs,
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
