import { migrateStore } from '../../store/open-store.ts';
import { CLICKHOUSE_CONFIG_VARIABLES, clickhouseAddress } from '../config/clickhouse-config.ts';
import { loadConfig } from '../config/config.ts';
import { flagsOf } from '../config/config-table.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, parseCommandLine, UsageError } from './command.ts';

const HELP = `Usage: shieldlog migrate [flags]

Brings the tables of a store on ClickHouse to the version that this program knows. serve does so at its start, too; this is for those
whose programs may not change tables. Two at once do it once, and what is there already stays.

  --dry-run
      Print the statements that would be run, and change nothing.
  --clickhouse-url, --clickhouse-user, --clickhouse-password, --clickhouse-database, --clickhouse-cluster
      As with serve, which has the environment variables of these names; a password may stand in a file. Of a cluster, what a node lacks is
      made, too.

Exit status: 0 done, 1 failed, 2 wrong usage or configuration.
`;

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, switches, positionals } = parseCommandLine(args, CLICKHOUSE_CONFIG_VARIABLES.flatMap(flagsOf), ['dry-run']);
  if (positionals[0] !== undefined) throw new UsageError(`Unexpected argument '${positionals[0]}'; migrate takes only flags`);
  const config = loadConfig(io.env, flags);
  const address = clickhouseAddress(config);
  if (address === null)
    throw new CommandFailed('there is nothing to migrate: STORE is embedded, whose folder is migrated when it is opened');
  const isDryRun = switches.has('dry-run');
  const { from, to, statements } = await migrateStore(address, { isDryRun, cluster: config.clickhouseCluster });
  if (isDryRun) {
    for (const statement of statements) io.stdout.write(`${statement};\n`);
  }
  io.stderr.write(`${reportOf({ from, to, statements }, isDryRun)}\n`);
  return 0;
}

function reportOf({ from, to, statements }: Awaited<ReturnType<typeof migrateStore>>, isDryRun: boolean): string {
  if (statements.length === 0) return `nothing to do: the tables have version ${to}`;
  if (from === to) return `what the tables of version ${to} lacked ${isDryRun ? 'would be' : 'was'} made`;
  return isDryRun ? `the tables would go from version ${from} to ${to}` : `the tables went from version ${from} to ${to}`;
}

export const migrateCommand: Command = {
  help: () => HELP,
  run,
};
