import { ACCESS_KEYS_FORM, type AccessKey, parseAccessKeys } from './access-key.ts';
import { daysInMs, hoursInMs, oneOf, someText, wholeNumber } from './config-value.ts';
import type { ConfigVariable } from './config-variable.ts';
import { EDGE_CONFIG_VARIABLES, type EdgeConfigValues } from './edge-config-table.ts';
import { KAFKA_CONFIG_VARIABLES, type KafkaConfigValues } from './kafka-config-table.ts';
import { fileFlagOf, fileVariableOf, type SettingSource } from './setting-text.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** `auto`: run the demo feed exactly when no Kafka is configured. */
export const DEMO_CHOICES = ['true', 'false', 'auto'] as const;

/** The parsed values, one for each row of the table; null where a variable has no default and is not set. */
export interface ConfigValues extends EdgeConfigValues, KafkaConfigValues {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly dataDir: string;
  readonly retentionMs: number;
  readonly deadLetterRetentionMs: number;
  readonly deadLetterMaxMb: number;
  readonly maxConnections: number;
  readonly ingestMaxMb: number;
  readonly queryDeadlineMs: number;
  readonly exportDeadlineMs: number;
  readonly exportIdleMs: number;
  readonly memoryLimitMb: number;
  readonly demo: (typeof DEMO_CHOICES)[number];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly accessKeys: readonly AccessKey[] | null;
}

type AnyVariable = { [K in keyof ConfigValues]: ConfigVariable<K, NonNullable<ConfigValues[K]>> }[keyof ConfigValues];

/** Every variable there is. The README's table and the command line are made from this one. */
export const CONFIG_VARIABLES: readonly AnyVariable[] = [
  {
    key: 'host',
    name: 'HOST',
    default: '127.0.0.1',
    allowed: 'an address or host name of this machine; one that is not loopback needs ACCESS_KEYS',
    about: 'Where to listen',
    parse: someText,
  },
  {
    key: 'port',
    name: 'PORT',
    default: '8080',
    allowed: 'a whole number 0..65535; 0 takes any free port',
    about: 'Where to listen',
    parse: wholeNumber(0, 65_535),
  },
  {
    key: 'dataDir',
    name: 'DATA_DIR',
    default: './data',
    allowed: 'the path of a folder; it is made if it does not exist',
    about: 'Where the events are kept; one running program a folder',
    parse: someText,
  },
  ...KAFKA_CONFIG_VARIABLES,
  {
    key: 'retentionMs',
    name: 'RETENTION_HOURS',
    default: '72',
    allowed: 'a whole number 1..8760',
    about: 'How long events are kept, by event time; a search reaches 72 hours back at most',
    parse: hoursInMs(1, 8_760),
  },
  {
    key: 'deadLetterRetentionMs',
    name: 'DEAD_LETTER_DAYS',
    default: '7',
    allowed: 'a whole number 1..365',
    about: 'How long dead letters are kept, from when they arrived',
    parse: daysInMs(1, 365),
  },
  {
    key: 'deadLetterMaxMb',
    name: 'DEAD_LETTER_MAX_MB',
    default: '1024',
    allowed: 'a whole number 1..1048576',
    about:
      'What dead letters may take on disk; of further ones from Kafka only place, reason and hash are kept, further ones from others are not',
    parse: wholeNumber(1, 1_048_576),
  },
  {
    key: 'maxConnections',
    name: 'MAX_CONNECTIONS',
    default: '4096',
    allowed: 'a whole number 16..65536',
    about: 'How many connections may be open at a time; those beyond are closed at once',
    parse: wholeNumber(16, 65_536),
  },
  {
    key: 'ingestMaxMb',
    name: 'INGEST_MAX_MB',
    default: '16384',
    allowed: 'a whole number 1..1048576',
    about: 'How long, decompressed, the events of one request may be',
    parse: wholeNumber(1, 1_048_576),
  },
  {
    key: 'queryDeadlineMs',
    name: 'QUERY_DEADLINE_MS',
    default: '30000',
    allowed: 'a whole number 1..3600000',
    about: 'A search that takes longer is interrupted and answered 503',
    parse: wholeNumber(1, 3_600_000),
  },
  {
    key: 'exportDeadlineMs',
    name: 'EXPORT_DEADLINE_MS',
    default: '3600000',
    allowed: 'a whole number 1..86400000',
    about: 'An export that takes longer is cut off',
    parse: wholeNumber(1, 86_400_000),
  },
  {
    key: 'exportIdleMs',
    name: 'EXPORT_IDLE_MS',
    default: '60000',
    allowed: 'a whole number 1..3600000',
    about: 'An export whose client takes nothing for longer is cut off',
    parse: wholeNumber(1, 3_600_000),
  },
  {
    key: 'memoryLimitMb',
    name: 'MEMORY_LIMIT_MB',
    default: '1024',
    allowed: 'a whole number 256..1048576',
    about:
      'Memory that DuckDB may use; beyond it, it spills to DATA_DIR. Merges in the background may take a quarter of it more, feeds some two thirds of it, up to 510 MiB',
    parse: wholeNumber(256, 1_048_576),
  },
  {
    key: 'demo',
    name: 'DEMO',
    default: 'false',
    allowed: 'true, false or auto (true when KAFKA_BROKERS is unset)',
    about: 'Fill the store with made-up events; `npm start` sets auto',
    parse: oneOf(DEMO_CHOICES),
  },
  {
    key: 'logLevel',
    name: 'LOG_LEVEL',
    default: 'info',
    allowed: LOG_LEVELS.join(', '),
    about: 'How much is logged to stderr',
    parse: oneOf(LOG_LEVELS),
  },
  {
    key: 'accessKeys',
    name: 'ACCESS_KEYS',
    default: null,
    // A template that nobody filled in must not open the door.
    judgesEmpty: true,
    allowed: ACCESS_KEYS_FORM,
    about: 'Who may call, for which zones; unset: anybody, on a loopback HOST only; set but empty: refused',
    secret: true,
    parse: parseAccessKeys,
  },
  ...EDGE_CONFIG_VARIABLES,
];

/** `KAFKA_GROUP_ID` is `kafka-group-id` on the command line. */
export function flagOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

export function sourceOf({ name, secret, judgesEmpty }: Pick<ConfigVariable, 'name' | 'secret' | 'judgesEmpty'>): SettingSource {
  return { name, flag: flagOf(name), secret: secret ?? false, judgesEmpty: judgesEmpty ?? false };
}

/** The environment variables that set it: its own and, for a secret, the one that names a file. */
export function variablesOf({ name, secret }: Pick<ConfigVariable, 'name' | 'secret'>): readonly string[] {
  return secret ? [name, fileVariableOf(name)] : [name];
}

/** The flags that set it, as `variablesOf`. */
export function flagsOf({ name, secret }: Pick<ConfigVariable, 'name' | 'secret'>): readonly string[] {
  return secret ? [flagOf(name), fileFlagOf(flagOf(name))] : [flagOf(name)];
}
