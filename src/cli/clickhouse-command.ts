import { STORE_SETTINGS, type StoreSetting } from '../../store/event-store.ts';
import { changeSettingOfStore, settingsOfStore } from '../../store/open-store.ts';
import { CLICKHOUSE_CONFIG_VARIABLES, clickhouseAddress } from '../config/clickhouse-config.ts';
import { loadConfig } from '../config/config.ts';
import { flagsOf } from '../config/config-table.ts';
import { nearestName } from '../config/misspelled-settings.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, parseCommandLine, UsageError } from './command.ts';

const HELP = `Usage: shieldlog clickhouse settings [NAME=VALUE] [flags]

The settings that all programs of a store on ClickHouse have alike: ${STORE_SETTINGS.join(', ')}.
The first program that serves the store writes its own, and one with others does not start. Without NAME=VALUE they are shown.

With NAME=VALUE one of them is changed. Programs that run with the former value keep what they have stored and drop nothing until they are
started with the new one, and /readyz says so.

  --clickhouse-url, --clickhouse-user, --clickhouse-password, --clickhouse-database, --clickhouse-cluster
      As with serve, which has the environment variables of these names; a password may stand in a file.

Exit status: 0 done, 1 failed, 2 wrong usage or configuration.
`;

const NEEDS = 'clickhouse takes settings, and after it at most one NAME=VALUE';

interface Change {
  readonly name: StoreSetting;
  readonly value: string;
}

/** Throws UsageError for a wrong name, and ConfigError for a wrong value. */
function changeOf(text: string): Change {
  const [given = '', ...rest] = text.split('=');
  const allowed = STORE_SETTINGS.join(', ');
  const name = STORE_SETTINGS.find((one) => one === given);
  if (name === undefined) {
    const nearest = nearestName(given.toUpperCase(), STORE_SETTINGS, () => 3);
    const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
    throw new UsageError(`'${given}' is no setting of a store; allowed: ${allowed}${meant}`);
  }
  const value = rest.join('=');
  if (value === '') throw new UsageError(`${name} has no value; allowed: ${name}=VALUE`);
  loadConfig({ [name]: value });
  return { name, value: name === 'CLICKHOUSE_USER' ? value : String(Number(value)) };
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, positionals } = parseCommandLine(args, CLICKHOUSE_CONFIG_VARIABLES.flatMap(flagsOf));
  const [what, given, extra] = positionals;
  if (what !== 'settings') throw new UsageError(what === undefined ? NEEDS : `'${what}' is not allowed; ${NEEDS}`);
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'; ${NEEDS}`);
  const change = given === undefined ? null : changeOf(given);
  const address = clickhouseAddress(loadConfig(io.env, flags));
  if (address === null) throw new CommandFailed('there are no settings of a store to look at: STORE is embedded, which has one program');
  if (change !== null) await changeSettingOfStore(address, change.name, change.value);
  const settings = await settingsOfStore(address);
  for (const [name, value] of settings) io.stdout.write(`${name}=${value}\n`);
  if (settings.size === 0) io.stderr.write('the first program that serves the store writes its settings; none has yet\n');
  return 0;
}

export const clickhouseCommand: Command = {
  help: () => HELP,
  run,
};
