import { DAY_MS, HOUR_MS } from '../../query/durations.ts';
import { REACH_HOURS } from '../../query/search-limits.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { ACCESS_KEYS_FORM, parseAccessKeys } from './access-key.ts';
import { parseWebUrl, WEB_URL_FORM } from './address-setting.ts';
import { CLICKHOUSE_CONFIG_VARIABLES } from './clickhouse-config.ts';
import {
  accept,
  type ConfigVariable,
  oneOfAnyCase,
  readableFile,
  refuse,
  someText,
  type ValuesOf,
  wholeNumberSetting,
} from './config-value.ts';
import { EDGE_CONFIG_VARIABLES } from './edge-config.ts';
import { KAFKA_CONFIG_VARIABLES } from './kafka-config.ts';
import { fileFlagOf, fileVariableOf, type SettingSource } from './setting-text.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** `auto` runs the demo feed where no Kafka is configured. */
const DEMO_CHOICES = ['true', 'false', 'auto'] as const;

const TABLE = [
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
    about: 'Where to listen',
    ...wholeNumberSetting(0, 65_535, { note: '; 0 takes any free port' }),
  },
  {
    key: 'publicUrl',
    name: 'PUBLIC_URL',
    default: null,
    allowed: WEB_URL_FORM,
    about: 'Where browsers find the page, with its path if it has one, if a proxy is in front',
    parse: parseWebUrl,
  },
  {
    key: 'dataDir',
    name: 'DATA_DIR',
    default: './data',
    allowed: 'the path of a folder; it is made if it does not exist',
    about: 'Where the events are kept; one running program a folder',
    parse: someText,
  },
  {
    key: 'mappings',
    name: 'MAPPINGS',
    default: null,
    allowed: 'the path of a folder with mappings, in files NAME.yaml',
    about: 'Mappings of your own, which make events of records of other products; they are read at the start; unset: only the presets',
    parse: someText,
  },
  {
    key: 'alerts',
    name: 'ALERTS',
    default: null,
    allowed: 'the path of a folder with rules of alerts, in files NAME.yaml',
    about:
      'The rules of alerts, which are read at the start; unset: the folder `alerts` in DATA_DIR, if it is there, and with ' +
      'STORE=clickhouse none. Of the programs on one ClickHouse it is set for one',
    parse: someText,
  },
  {
    key: 'alertReceivers',
    name: 'ALERT_RECEIVERS',
    default: null,
    allowed: 'the path of a YAML file with receivers',
    about: 'Who is told of alerts; its secrets are in variables of the environment or files that it names',
    parse: readableFile,
  },
  {
    key: 'alertZone',
    name: 'ALERT_ZONE',
    default: null,
    allowed: `a zone id ${ZONE_ID_RANGE}`,
    about: 'The zone in which alerts are events, too; rules of all zones leave it out',
    parse: (text) => {
      const zoneId = zoneIdIn(text);
      return zoneId === null ? refuse() : accept(zoneId);
    },
  },
  ...CLICKHOUSE_CONFIG_VARIABLES,
  ...KAFKA_CONFIG_VARIABLES,
  {
    key: 'retentionMs',
    name: 'RETENTION_HOURS',
    default: '72',
    about: `How long events are kept, by event time; a search reaches ${REACH_HOURS} hours back at most`,
    ...wholeNumberSetting(1, 8_760, { unit: HOUR_MS }),
  },
  {
    key: 'deadLetterRetentionMs',
    name: 'DEAD_LETTER_DAYS',
    default: '7',
    about: 'How long dead letters are kept, from when they arrived',
    ...wholeNumberSetting(1, 365, { unit: DAY_MS }),
  },
  {
    key: 'deadLetterMaxMb',
    name: 'DEAD_LETTER_MAX_MB',
    default: '1024',
    about:
      'What dead letters may take on disk; further ones take the room of the oldest of the zone that has most, or are not kept if they ' +
      'are of that zone; from Kafka topic, partition, offset, reason and hash are kept even then',
    ...wholeNumberSetting(1, 1_048_576),
  },
  {
    key: 'maxConnections',
    name: 'MAX_CONNECTIONS',
    default: '4096',
    about: 'How many connections may be open at a time; those beyond are closed at once',
    ...wholeNumberSetting(16, 65_536),
  },
  {
    key: 'ingestMaxMb',
    name: 'INGEST_MAX_MB',
    default: '16384',
    about: 'How long, decompressed, the events of one request may be',
    ...wholeNumberSetting(1, 1_048_576),
  },
  {
    key: 'queryDeadlineMs',
    name: 'QUERY_DEADLINE_MS',
    default: '30000',
    about: 'A search that takes longer is interrupted and answered 503',
    ...wholeNumberSetting(1, 3_600_000),
  },
  {
    key: 'exportDeadlineMs',
    name: 'EXPORT_DEADLINE_MS',
    default: '3600000',
    about: 'An export that takes longer is cut off, and so is the answer of a search that its caller reads for longer',
    ...wholeNumberSetting(1, 86_400_000),
  },
  {
    key: 'exportIdleMs',
    name: 'EXPORT_IDLE_MS',
    default: '60000',
    about: 'An export whose client takes nothing for longer is cut off',
    ...wholeNumberSetting(1, 3_600_000),
  },
  {
    key: 'memoryLimitMb',
    name: 'MEMORY_LIMIT_MB',
    default: '1024',
    about:
      'Memory for events and answers: half of it is for the DuckDB that searches, which spills to DATA_DIR beyond that. The program ' +
      'takes 1640 MiB beside it at most',
    ...wholeNumberSetting(256, 1_048_576),
  },
  {
    key: 'demo',
    name: 'DEMO',
    default: 'false',
    allowed: 'true, false or auto (true when KAFKA_BROKERS is unset)',
    about: 'Fill the store with made-up events; `npm start` sets auto',
    parse: oneOfAnyCase(DEMO_CHOICES),
  },
  {
    key: 'demoFile',
    name: 'DEMO_FILE',
    default: null,
    allowed: 'the path of a file, plain, gzip or zstd; needs DEMO_MAPPING',
    about:
      'A log of another product that is taken instead of made-up events, with its times moved so that the newest is now; where ' +
      'DATA_DIR is unset, the events are in a temporary folder',
    parse: readableFile,
  },
  {
    key: 'demoMapping',
    name: 'DEMO_MAPPING',
    default: null,
    allowed: 'the name of a mapping; needs DEMO_FILE',
    about: 'The mapping that makes events of its records; those for which it has no zone are of zone 1',
    parse: someText,
  },
  {
    key: 'logLevel',
    name: 'LOG_LEVEL',
    default: 'info',
    allowed: LOG_LEVELS.join(', '),
    about: 'How much is logged to stderr',
    parse: oneOfAnyCase(LOG_LEVELS),
  },
  {
    key: 'accessKeys',
    name: 'ACCESS_KEYS',
    default: null,
    // A template that nobody filled in must not start a program without keys.
    judgesEmpty: true,
    allowed: ACCESS_KEYS_FORM,
    about: 'Who may call, for which zones; unset: anybody, on a loopback HOST only; set but empty: refused',
    secret: true,
    parse: parseAccessKeys,
  },
  ...EDGE_CONFIG_VARIABLES,
] as const satisfies readonly ConfigVariable[];

/** The parsed values, one for each row of the table. */
export type ConfigValues = ValuesOf<typeof TABLE>;

/** All settings. The command line and the table in docs/configuration.md are made from this one. */
export const CONFIG_VARIABLES: readonly ConfigVariable<keyof ConfigValues>[] = TABLE;

/** `KAFKA_GROUP_ID` is `kafka-group-id` on the command line. */
export function flagOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

export function sourceOf({ name, secret, judgesEmpty }: Pick<ConfigVariable, 'name' | 'secret' | 'judgesEmpty'>): SettingSource {
  return { name, flag: flagOf(name), secret: secret ?? false, judgesEmpty: judgesEmpty ?? false };
}

/** The environment variables that set it: its own and, for a secret, the one of its file. */
export function variablesOf({ name, secret }: Pick<ConfigVariable, 'name' | 'secret'>): readonly string[] {
  return secret ? [name, fileVariableOf(name)] : [name];
}

/** The flags that set it: its own and, for a secret, the one of its file. */
export function flagsOf({ name, secret }: Pick<ConfigVariable, 'name' | 'secret'>): readonly string[] {
  return secret ? [flagOf(name), fileFlagOf(flagOf(name))] : [flagOf(name)];
}
