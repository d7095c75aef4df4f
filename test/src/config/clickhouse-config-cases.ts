type Texts = Readonly<Record<string, string>>;

const CHOSEN: Texts = { STORE: 'clickhouse' };
const THERE: Texts = { ...CHOSEN, CLICKHOUSE_URL: 'http://127.0.0.1:8123' };

/** Values of the variables of the store on ClickHouse: taken, and as what. */
export const CLICKHOUSE_GOOD: readonly (readonly [name: string, text: string, key: string, value: unknown, besides?: Texts])[] = [
  ['STORE', 'embedded', 'store', 'embedded'],
  ['STORE', 'ClickHouse', 'store', 'clickhouse', { CLICKHOUSE_URL: 'http://127.0.0.1:8123' }],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:8123', 'clickhouseUrls', ['http://127.0.0.1:8123'], CHOSEN],
  ['CLICKHOUSE_URL', 'https://a.example/, HTTP://B.example:8123', 'clickhouseUrls', ['https://a.example', 'http://b.example:8123'], CHOSEN],
  ['CLICKHOUSE_USER', 'shieldlog', 'clickhouseUser', 'shieldlog', THERE],
  ['CLICKHOUSE_PASSWORD', ' any "text" ', 'clickhousePassword', ' any "text" ', THERE],
  ['CLICKHOUSE_DATABASE', '_events_2', 'clickhouseDatabase', '_events_2', THERE],
  ['CLICKHOUSE_CLUSTER', 'shield.log-1', 'clickhouseCluster', 'shield.log-1', THERE],
  ['CLICKHOUSE_INSERT_QUORUM', '0', 'clickhouseInsertQuorum', 0],
  ['CLICKHOUSE_INSERT_QUORUM', '2', 'clickhouseInsertQuorum', 2, THERE],
  ['CLICKHOUSE_INSERT_QUORUM', 'auto', 'clickhouseInsertQuorum', 'auto', THERE],
];

/** And those that stop the start. */
export const CLICKHOUSE_BAD: readonly (readonly [name: string, text: string, besides?: Texts])[] = [
  ['STORE', 'duckdb'],
  ['STORE', 'clickhouse'],
  ['CLICKHOUSE_URL', '127.0.0.1:8123', CHOSEN],
  ['CLICKHOUSE_URL', 'tcp://127.0.0.1:9000', CHOSEN],
  ['CLICKHOUSE_URL', 'http://user:secret@127.0.0.1:8123', CHOSEN],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:8123/?password=secret', CHOSEN],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:8123/shieldlog', CHOSEN],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:8123//', CHOSEN],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:8123,http://127.0.0.1:8124/#secret', CHOSEN],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:8123,', CHOSEN],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:8123'],
  ['CLICKHOUSE_USER', ' ', THERE],
  ['CLICKHOUSE_PASSWORD', 'alone'],
  ['CLICKHOUSE_PASSWORD', ' ', THERE],
  ['CLICKHOUSE_DATABASE', 'two words', THERE],
  ['CLICKHOUSE_DATABASE', '2events', THERE],
  ['CLICKHOUSE_DATABASE', 'a`b', THERE],
  ['CLICKHOUSE_CLUSTER', "it's", THERE],
  ['CLICKHOUSE_CLUSTER', 'alone'],
  ['CLICKHOUSE_INSERT_QUORUM', '2'],
  ['CLICKHOUSE_INSERT_QUORUM', '-1', THERE],
  ['CLICKHOUSE_INSERT_QUORUM', '101', THERE],
  ['CLICKHOUSE_INSERT_QUORUM', 'most', THERE],
];
