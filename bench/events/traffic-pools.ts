/** Texts of the generated traffic. None of them needs escaping in JSON. */

const SYSTEMS = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'iPhone; CPU iPhone OS 17_4 like Mac OS X',
  'Linux; Android 14; Pixel 8',
];
const TOOLS = ['curl', 'python-requests', 'Go-http-client', 'sqlmap', 'Nikto', 'okhttp'];

/** 3,000 user agents: many versions of browsers, and some tools. */
export const USER_AGENTS: readonly string[] = Array.from({ length: 3_000 }, (_, index) => {
  if (index % 25 === 7) {
    return `${TOOLS[index % TOOLS.length]}/${1 + (index % 9)}.${index % 100}`;
  }
  const version = `${80 + (index % 60)}.0.${1000 + index}.${index % 200}`;
  return `Mozilla/5.0 (${SYSTEMS[index % SYSTEMS.length]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`;
});

const ATTACKS = [
  'SQL injection',
  'Cross-site scripting',
  'Path traversal',
  'Remote command execution',
  'Scanner',
  'Credential stuffing',
  'Protocol violation',
  'File upload',
];

/** 400 rules. */
export const RULES: readonly { readonly id: string; readonly name: string }[] = Array.from({ length: 400 }, (_, index) => ({
  id: String(920_000 + index * 37),
  name: `${ATTACKS[index % ATTACKS.length]} ${1 + Math.floor(index / ATTACKS.length)}`,
}));

const SECTIONS = ['shop', 'api/v1', 'api/v2', 'account', 'blog', 'static', 'wp-admin', 'admin', 'search', 'checkout'];
const PAGES = ['login', 'items', 'cart', 'orders', 'profile', 'index.php', 'upload', 'export', 'list', 'detail', 'comments', 'reset'];

export const PATHS: readonly string[] = SECTIONS.flatMap((section) => PAGES.map((page) => `/${section}/${page}`));

export const FEATURES = ['waf', 'bot-detection', 'rate-limit', 'access-list', 'ddos', 'api-guardian', 'upload-scanning'] as const;
export const ACTIONS = ['logged', 'blocked', 'challenged', 'allowed'] as const;
export const COUNTRIES = [
  'US',
  'DE',
  'CN',
  'BR',
  'IN',
  'FR',
  'GB',
  'RU',
  'NL',
  'JP',
  'VN',
  'ID',
  'PL',
  'UA',
  'IT',
  'ES',
  'CA',
  'AU',
  'SE',
  'TR',
] as const;
export const JA4: readonly string[] = Array.from(
  { length: 200 },
  (_, index) =>
    `t13d${1500 + (index % 40)}h2_8daaf6${(152_000 + index * 7).toString(16).padStart(6, '0')}_b186095e${(8_000 + index).toString(16)}`,
);
