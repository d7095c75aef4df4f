import { wholeNumberIn } from '../../query/integer-ranges.ts';
import { parseUrlSetting } from './address-setting.ts';
import { accept, type ConfigVariable, oneOfAnyCase, type ParsedValue, refuse, someText, type ValuesOf } from './config-value.ts';

const STORE_KINDS = ['embedded', 'clickhouse'] as const;

const URLS_FORM = 'http: or https: URLs without credentials, path, query and fragment, separated by commas';

/** Parses CLICKHOUSE_URL. */
function parseUrls(text: string): ParsedValue<readonly string[]> {
  const urls: string[] = [];
  for (const item of text.split(',').map((part) => part.trim())) {
    const parsed = parseUrlSetting(item, ['http', 'https']);
    if (parsed.kind === 'refused') return parsed;
    const { origin, pathname } = parsed.value;
    if (pathname !== '/') return refuse('it has a path, which would be taken for the database: CLICKHOUSE_DATABASE names that');
    urls.push(origin);
  }
  return accept(urls);
}

const DATABASE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const CLUSTER_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

const MAX_QUORUM = 100;

/** Parses CLICKHOUSE_INSERT_QUORUM. */
function parseQuorum(text: string): ParsedValue<number | 'auto'> {
  const replicas = wholeNumberIn(text, 0, MAX_QUORUM);
  if (replicas !== null) return accept(Number(replicas));
  return text === 'auto' ? accept('auto') : refuse();
}

/** Which store the program has, and where ClickHouse is. A URL is a secret, because one may hold a password by mistake. */
export const CLICKHOUSE_CONFIG_VARIABLES = [
  {
    key: 'store',
    name: 'STORE',
    default: 'embedded',
    allowed: STORE_KINDS.join(' or '),
    about: 'Where the events are kept: in DATA_DIR, or in ClickHouse, which several programs may share',
    parse: oneOfAnyCase(STORE_KINDS),
  },
  {
    key: 'clickhouseUrls',
    name: 'CLICKHOUSE_URL',
    default: null,
    allowed: URLS_FORM,
    about: 'The HTTP interface of ClickHouse; of several replicas the first that can be reached is asked',
    secret: true,
    parse: parseUrls,
  },
  {
    key: 'clickhouseUser',
    name: 'CLICKHOUSE_USER',
    default: 'default',
    allowed: 'a user of ClickHouse',
    about: 'Who asks ClickHouse; all programs of one store are the same user',
    parse: someText,
  },
  {
    key: 'clickhousePassword',
    name: 'CLICKHOUSE_PASSWORD',
    default: null,
    allowed: 'any text',
    about: 'The password of that user; unset: none',
    secret: true,
    parse: someText,
  },
  {
    key: 'clickhouseDatabase',
    name: 'CLICKHOUSE_DATABASE',
    default: 'shieldlog',
    allowed: 'a letter or _, then at most 63 letters, digits and _',
    about: 'The database that the tables are in; it is made if it does not exist',
    parse: (text) => (DATABASE_NAME.test(text) ? accept(text) : refuse()),
  },
  {
    key: 'clickhouseCluster',
    name: 'CLICKHOUSE_CLUSTER',
    default: null,
    allowed: '1 to 64 letters, digits, _, - and .',
    about: 'The cluster that has the tables, as remote_servers of ClickHouse names it; unset: one server has them',
    parse: (text) => (CLUSTER_NAME.test(text) ? accept(text) : refuse()),
  },
  {
    key: 'clickhouseInsertQuorum',
    name: 'CLICKHOUSE_INSERT_QUORUM',
    default: '0',
    allowed: `a whole number 0..${MAX_QUORUM}, or auto for more than half of them`,
    about: "How many replicas have an insert before it is acknowledged; 0: as the server's own insert_quorum says",
    parse: parseQuorum,
  },
] as const satisfies readonly ConfigVariable[];

export type ClickhouseConfigValues = ValuesOf<typeof CLICKHOUSE_CONFIG_VARIABLES>;

/** Where ClickHouse is; null with another store. */
export function clickhouseAddress(config: ClickhouseConfigValues) {
  const { store, clickhouseUrls: urls, clickhouseUser: user, clickhousePassword: password, clickhouseDatabase: database } = config;
  return store === 'embedded' || urls === null ? null : { urls, user, password: password ?? '', database };
}

/** Which servers share the events of that store. */
export function clusterOf({ clickhouseCluster: cluster, clickhouseInsertQuorum: quorum }: ClickhouseConfigValues) {
  return { cluster, ...(quorum === 0 ? {} : { insertQuorum: quorum }) };
}

/** A line for each broken rule about several of the settings. One whose own value is wrong is absent and breaks none. */
export function clickhouseConfigFaults(values: Partial<ClickhouseConfigValues>): string[] {
  const { store, clickhouseUrls, clickhousePassword, clickhouseCluster, clickhouseInsertQuorum } = values;
  if (store === 'clickhouse') {
    const isMissing = clickhouseUrls === null;
    return isMissing ? ['STORE="clickhouse" is not allowed without CLICKHOUSE_URL; allowed: with the URL of its HTTP interface'] : [];
  }
  const given = {
    CLICKHOUSE_URL: clickhouseUrls,
    CLICKHOUSE_PASSWORD: clickhousePassword,
    [`CLICKHOUSE_CLUSTER=${JSON.stringify(clickhouseCluster)}`]: clickhouseCluster,
    [`CLICKHOUSE_INSERT_QUORUM="${clickhouseInsertQuorum}"`]: clickhouseInsertQuorum === 0 ? null : clickhouseInsertQuorum,
  };
  return Object.entries(given)
    .filter(([, value]) => store === 'embedded' && value !== null && value !== undefined)
    .map(([name]) => `${name} is set, but STORE is embedded; allowed: with STORE=clickhouse`);
}
