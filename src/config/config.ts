import type { AccessKey } from './access-key.ts';
import { clickhouseConfigFaults } from './clickhouse-config.ts';
import { CONFIG_VARIABLES, type ConfigValues, sourceOf } from './config-table.ts';
import type { ConfigVariable } from './config-value.ts';
import { kafkaConfigFaults } from './kafka-config.ts';
import { isLoopbackHost } from './loopback.ts';
import { misspelledSettings } from './misspelled-settings.ts';
import { findSettingText, type Texts } from './setting-text.ts';

export interface Config extends Omit<ConfigValues, 'demo' | 'accessKeys'> {
  /** `auto` is decided: true when the demo feed or the demo file is to run. */
  readonly demo: boolean;
  /** Empty only where ACCESS_KEYS is not set at all. */
  readonly accessKeys: readonly AccessKey[];
}

/** The start is refused. Each line names one wrong setting for the operator, and holds no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

/** Reads the value of a variable, or the line that says why it is not allowed. */
function readVariable(variable: ConfigVariable, env: Texts, flags: Texts): { readonly value: unknown } | { readonly wrong: string } {
  const found = findSettingText(sourceOf(variable), env, flags);
  if (found.kind === 'refused') return { wrong: found.line };
  const text = found.kind === 'text' ? found.text : variable.default;
  if (text === null) return { value: null };
  const parsed = variable.parse(text);
  if (parsed.kind === 'value') return { value: parsed.value };
  const name = found.kind === 'text' ? found.shownAs : variable.name;
  const why = parsed.why === null ? '' : `: ${parsed.why}`;
  return { wrong: `${name} is not allowed${why}; allowed: ${variable.allowed}` };
}

/** A line for each broken rule about several variables. A variable whose own value is wrong is absent and breaks none. */
function checkTogether(values: Partial<ConfigValues>): string[] {
  const wrong = [...clickhouseConfigFaults(values), ...kafkaConfigFaults(values)];
  if (isSet(values.serviceDatabaseAuthToken) && values.serviceDatabaseUrl === null) {
    wrong.push('SERVICE_DATABASE_AUTH_TOKEN is set without SERVICE_DATABASE_URL; allowed: both, or none');
  }
  if (isSet(values.upstreamAccessKey) && values.upstreamUrl === null && values.upstreamOverrides === null) {
    wrong.push('UPSTREAM_ACCESS_KEY is set, but no URL to send it to; allowed: with UPSTREAM_URL or UPSTREAM_URL_OVERRIDES');
  }
  const { demoFile, demoMapping } = values;
  const together = 'allowed: DEMO_FILE and DEMO_MAPPING both, or none';
  if (isSet(demoFile) && demoMapping === null) wrong.push(`DEMO_FILE=${JSON.stringify(demoFile)} is set without DEMO_MAPPING; ${together}`);
  if (isSet(demoMapping) && demoFile === null)
    wrong.push(`DEMO_MAPPING=${JSON.stringify(demoMapping)} is set without DEMO_FILE; ${together}`);
  if (values.accessKeys === null && values.host !== undefined && !isLoopbackHost(values.host)) {
    wrong.push(
      `HOST=${JSON.stringify(values.host)} is not allowed without ACCESS_KEYS; ` +
        'allowed: a loopback address such as 127.0.0.1, or set ACCESS_KEYS (name:key:zones)',
    );
  }
  return wrong;
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/**
 * Reads the configuration from the environment and the flags (by name without `--`); flags win. Throws ConfigError with all wrong settings
 * in the table's order, and with variables whose names are nearly those of settings.
 */
export function loadConfig(env: Texts, flags: Texts = {}): Config {
  const read = CONFIG_VARIABLES.map((variable) => ({ key: variable.key, ...readVariable(variable, env, flags) }));
  const values = Object.fromEntries(read.flatMap((entry) => ('value' in entry ? [[entry.key, entry.value]] : []))) as Partial<ConfigValues>;
  const wrong = [...read.flatMap((entry) => ('wrong' in entry ? [entry.wrong] : [])), ...checkTogether(values)];
  if (wrong.length > 0) throw new ConfigError([...wrong, ...misspelledSettings(env, flags)]);
  const { demo, accessKeys, ...rest } = values as ConfigValues;
  const hasDemo = rest.demoFile !== null || (demo === 'auto' ? rest.kafkaBrokers === null : demo === 'true');
  return { ...rest, accessKeys: accessKeys ?? [], demo: hasDemo };
}

/** Whether the folder of the data is chosen by its setting, and not by default. */
export function isDataDirSet(env: Texts, flags: Texts): boolean {
  return CONFIG_VARIABLES.some(
    (variable) => variable.key === 'dataDir' && findSettingText(sourceOf(variable), env, flags).kind !== 'unset',
  );
}
