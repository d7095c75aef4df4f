import { DEFAULT_PAGE_SIZE, MAX_PER_ANSWER } from '../../../query/search-limits.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { stdoutSink } from '../../sinks/stdout-sink.ts';
import { type Command, type CommandIo, type ExitStatus, UsageError } from '../command.ts';
import { choices, wholeNumberFlag } from '../flag-values.ts';
import { type AskedProgram, incompleteText, programOf } from '../program-requests.ts';
import { styledOutput } from '../terminal.ts';
import { chosenColumns, eventWriter, leftOutText, outputForm } from './event-output.ts';
import { type ExploredPage, explorePage } from './explored-page.ts';
import {
  GROUP_KEYS,
  GROUP_OBJECTS,
  groupColumns,
  type OutputColumn,
  ROW_COLUMNS,
  ROW_OBJECTS,
  usualGroupColumns,
  usualRowColumns,
  wireNameOf,
} from './output-columns.ts';
import { parseSearchArguments, type SearchArguments } from './search-arguments.ts';
import { asCommandError } from './search-line-errors.ts';
import {
  conditionsOfLine,
  flagsOfFields,
  LINE_HELP,
  type SearchWindow,
  tellNotes,
  WINDOW_FLAGS,
  WINDOW_HELP,
  windowOfFlags,
  ZONE_FLAGS,
  ZONE_HELP,
} from './search-options.ts';

/** Buckets of a sparkline without `--buckets`. */
const DEFAULT_BUCKETS = 24;

const OUTPUT_HELP = `  --limit N, --page N
      So many on a page, 1..${MAX_PER_ANSWER} (default ${DEFAULT_PAGE_SIZE}), and which page, from 1. 'shieldlog export' has all.
  --table, --ndjson, --json
      A table, one a line, or the answer as the program sent it (default: a table on a terminal, else NDJSON).`;

const EXIT_HELP = 'Exit status: 0 done, also where nothing is found; 1 the program cannot be reached or refuses; 2 wrong usage.';

const SEARCH_HELP = `Usage: shieldlog search [flags] [WORD…]

Shows the events that a search finds, the newest first.

${LINE_HELP}

${WINDOW_HELP}
${OUTPUT_HELP}
  --columns NAME[,NAME…]
      The columns of the table; with NDJSON, what a line has. They are
      ${ROW_COLUMNS.map(({ name }) => name).join(', ')}.
${ZONE_HELP}

${EXIT_HELP}
`;

const GROUPS_HELP = `Usage: shieldlog groups --group-by NAME[,NAME…] [flags] [WORD…]

Counts the events that a search finds by the values of some fields, the most frequent first.

${LINE_HELP}

  --group-by NAME[,NAME…]
      What the groups are of: ${GROUP_KEYS.join(', ')}.
  --buckets N
      The parts of the window in the sparkline, 0..${MAX_PER_ANSWER} (default ${DEFAULT_BUCKETS}). A narrow terminal shows fewer.
${WINDOW_HELP}
${OUTPUT_HELP}
  --columns NAME[,NAME…]
      The columns of the table; with NDJSON, what a line has: those of --group-by, and
      ${groupColumns([])
        .map(({ name }) => name)
        .join(', ')}.
${ZONE_HELP}

${EXIT_HELP}
`;

/** A question about rows or groups, with the columns in which they are shown. */
interface Question {
  readonly program: AskedProgram;
  readonly window: SearchWindow;
  /** The other members of the body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** From 0. */
  readonly page: number;
  readonly limit: number;
  readonly columns: readonly OutputColumn[];
  readonly objects: readonly string[];
  readonly arguments: SearchArguments;
}

const COMMON_FLAGS = [...ZONE_FLAGS, ...WINDOW_FLAGS, 'limit', 'page', 'columns'];
const FORMS = ['table', 'ndjson', 'json'] as const;

function commonOf(given: SearchArguments, env: CommandIo['env']): Omit<Question, 'columns' | 'objects'> {
  const { flags, line } = given;
  const limit = wholeNumberFlag('limit', flags['limit'] ?? String(DEFAULT_PAGE_SIZE), 1, MAX_PER_ANSWER);
  const page = wholeNumberFlag('page', flags['page'] ?? '1', 1, 2 ** 31) - 1;
  const { query, filters, exclude } = conditionsOfLine(line);
  const window = windowOfFlags(flags, Date.now());
  return { program: programOf(flags, env), window, body: { query, filters, exclude }, page, limit, arguments: given };
}

/** Parses the command line of `search` or `groups`. Throws UsageError. */
export function parseQuestion(name: 'search' | 'groups', args: readonly string[], env: CommandIo['env']): Question {
  return name === 'search' ? searchQuestion(args, env) : groupsQuestion(args, env);
}

function searchQuestion(args: readonly string[], env: CommandIo['env']): Question {
  const given = parseSearchArguments(args, COMMON_FLAGS, FORMS);
  const common = commonOf(given, env);
  const columns = chosenColumns(given.flags['columns'], usualRowColumns(common.program.zone), ROW_COLUMNS);
  return { ...common, columns, objects: ROW_OBJECTS };
}

function groupsQuestion(args: readonly string[], env: CommandIo['env']): Question {
  const given = parseSearchArguments(args, [...COMMON_FLAGS, 'group-by', 'buckets'], FORMS);
  const { flags } = given;
  const groupBy = flags['group-by'];
  if (groupBy === undefined) throw new UsageError(`groups needs --group-by NAME[,NAME…]; allowed: ${GROUP_KEYS.join(', ')}`);
  const keys = choices('group-by', groupBy, GROUP_KEYS);
  const buckets = wholeNumberFlag('buckets', flags['buckets'] ?? String(DEFAULT_BUCKETS), 0, MAX_PER_ANSWER);
  const common = commonOf(given, env);
  const usual = usualGroupColumns(keys).filter((name) => name !== 'sparkline' || buckets > 0);
  return {
    ...common,
    body: { ...common.body, groupBy: keys.map(wireNameOf), buckets },
    columns: chosenColumns(flags['columns'], usual, groupColumns(keys)),
    objects: GROUP_OBJECTS,
  };
}

/** The flags that show the next page of the same events: they also fix the end of a window that would move on with the time. */
function nextPageFlags({ page, window, arguments: { flags } }: Question): string {
  const end = flags['to'] === undefined ? ` --to ${new Date(window.to).toISOString()}` : '';
  return `--page ${page + 2}${end}`;
}

/** Says which rows or groups of how many are shown, and which flags show the next ones. */
function pageText(what: string, question: Question, { records, total }: ExploredPage): string {
  const { page, limit, window } = question;
  const within = `${new Date(window.from).toISOString()} to ${new Date(window.to).toISOString()}`;
  const pages = Math.ceil(total / limit);
  if (total === 0) return `no ${what} from ${within}`;
  if (records.length === 0) return `${total} ${what} from ${within}; page ${page + 1} is behind the last, which is ${pages}`;
  const first = page * limit + 1;
  const next = page + 1 < pages ? `; ${nextPageFlags(question)} has the next` : '';
  return `${first} to ${first + records.length - 1} of ${total} ${what} from ${within}; page ${page + 1} of ${pages}${next}`;
}

async function show(name: 'search' | 'groups', args: readonly string[], { env, stdout, stderr }: CommandIo): Promise<ExitStatus> {
  const question = parseQuestion(name, args, env);
  const { program, window, body, page, limit, columns, objects } = question;
  const { flags, switches, line } = question.arguments;
  tellNotes(name, line, stderr);
  const form = outputForm(switches, FORMS, stdout);
  const sink = stdoutSink(form === 'table' ? styledOutput(stdout) : stdout);
  const { signal } = new AbortController();
  const write = (bytes: Buffer): Promise<unknown> => sink.deliver({ bytes, count: 1 }, signal);
  try {
    const answered = await explorePage(program, { ...window, ...body, page, pageSize: limit }, signal);
    tellNotes(name, line, stderr, answered.total);
    const incomplete = incompleteText(answered.unreadable);
    if (incomplete !== undefined) stderr.write(`shieldlog ${name}: ${incomplete}\n`);
    if (form === 'json') {
      await write(Buffer.concat([answered.answer, Buffer.from('\n')]));
      return 0;
    }
    const isCutToColumns = flags['columns'] !== undefined;
    let leftOut: readonly string[] = [];
    const onLeftOut = (names: readonly string[]): void => {
      leftOut = names;
    };
    const lines = eventWriter({ form, columns, isCutToColumns, objects, isStream: false, stdout, onLeftOut });
    await write(lines(answered.records));
    if (leftOut.length > 0) stderr.write(`shieldlog ${name}: ${leftOutText(leftOut)}\n`);
    const isWhole = answered.records.length === answered.total;
    if (form === 'table' || !isWhole)
      stderr.write(`shieldlog ${name}: ${pageText(name === 'search' ? 'events' : 'groups', question, answered)}\n`);
    return 0;
  } catch (error) {
    // The reader of the pipe has enough.
    if (error instanceof DeliveryError && error.code === 'closed') return 0;
    throw asCommandError(error, line, flagsOfFields(flags));
  } finally {
    program.client.close();
  }
}

export const searchCommand: Command = {
  help: () => SEARCH_HELP,
  run: (args, io) => show('search', args, io),
};

export const groupsCommand: Command = {
  help: () => GROUPS_HELP,
  run: (args, io) => show('groups', args, io),
};
