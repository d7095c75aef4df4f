import type { AccessKey } from './access-key.ts';
import { CONFIG_VARIABLES, type ConfigValues, type ConfigVariable, flagOf } from './config-table.ts';
import { isLoopbackHost } from './loopback.ts';

export interface Config extends Omit<ConfigValues, 'demo' | 'accessKeys'> {
  /** `auto` is decided: true when the demo feed is to run. */
  readonly demo: boolean;
  /** Empty only where ACCESS_KEYS is not set at all. */
  readonly accessKeys: readonly AccessKey[];
}

/** The start is refused; the message is one line for the person who set the variable, and holds no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly variable: string;

  constructor(variable: string, message: string) {
    super(message);
    this.variable = variable;
  }
}

type Texts = Readonly<Record<string, string | undefined>>;

function readVariable(variable: ConfigVariable, env: Texts, flags: Texts): unknown {
  const flag = flagOf(variable.name);
  const fromFlag = flags[flag];
  // Compose files pass unset variables on as empty ones.
  const fromEnv = env[variable.name] === '' && variable.judgesEmpty === undefined ? undefined : env[variable.name];
  const text = fromFlag ?? fromEnv ?? variable.default;
  if (text === null) return null;
  const parsed = variable.parse(text);
  if (parsed.kind === 'value') return parsed.value;
  const given = fromFlag === undefined ? variable.name : `--${flag}`;
  const shown = variable.secret ? '' : `=${JSON.stringify(text)}`;
  const why = parsed.why === null ? '' : `: ${parsed.why}`;
  throw new ConfigError(variable.name, `${given}${shown} is not allowed${why}; allowed: ${variable.allowed}`);
}

function checkTogether(values: ConfigValues): void {
  const sasl = {
    KAFKA_SASL_MECHANISM: values.kafkaSaslMechanism,
    KAFKA_SASL_USERNAME: values.kafkaSaslUsername,
    KAFKA_SASL_PASSWORD: values.kafkaSaslPassword,
  };
  const missing = Object.entries(sasl).filter(([, value]) => value === null);
  const [first] = missing;
  if (first !== undefined && missing.length < 3) {
    throw new ConfigError(
      first[0],
      `${first[0]} is not set; allowed: KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD all three, or none`,
    );
  }
  if (values.serviceDatabaseAuthToken !== null && values.serviceDatabaseUrl === null) {
    throw new ConfigError(
      'SERVICE_DATABASE_AUTH_TOKEN',
      'SERVICE_DATABASE_AUTH_TOKEN is set without SERVICE_DATABASE_URL; allowed: both, or none',
    );
  }
  if (values.upstreamAccessKey !== null && values.upstreamUrl === null && values.upstreamOverrides === null) {
    throw new ConfigError(
      'UPSTREAM_ACCESS_KEY',
      'UPSTREAM_ACCESS_KEY is set, but no URL to send it to; allowed: with UPSTREAM_URL or UPSTREAM_URL_OVERRIDES',
    );
  }
  if (values.accessKeys === null && !isLoopbackHost(values.host)) {
    throw new ConfigError(
      'HOST',
      `HOST=${JSON.stringify(values.host)} is not allowed without ACCESS_KEYS; allowed: a loopback address such as 127.0.0.1, or set ACCESS_KEYS (name:key:zones)`,
    );
  }
}

/**
 * The configuration from the environment and the command line's flags (by name without `--`); flags win.
 * Throws ConfigError for the first variable, in the table's order, whose value is not allowed.
 */
export function loadConfig(env: Texts, flags: Texts = {}): Config {
  // The table has one row a key, each with a parser of that key's type; a test holds it to that.
  const values = Object.fromEntries(
    CONFIG_VARIABLES.map((variable) => [variable.key, readVariable(variable as ConfigVariable, env, flags)]),
  ) as unknown as ConfigValues;
  checkTogether(values);
  const { demo, accessKeys, ...rest } = values;
  return { ...rest, accessKeys: accessKeys ?? [], demo: demo === 'auto' ? rest.kafkaBrokers === null : demo === 'true' };
}
