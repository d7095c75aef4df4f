import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import { printable } from '../../query/search-line.ts';
import type { BacktestLine } from '../alerts/backtest.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { CommandFailed, type CommandIo, type ExitStatus } from './command.ts';
import { duration, optional } from './flag-values.ts';
import { asCommandError, refusalOf } from './search/program-requests.ts';
import { programOf } from './search/search-options.ts';
import { ACCESS_KEY_FLAGS, ACCESS_KEY_HELP, addressIn, DEFAULT_URL } from './server-flags.ts';

export const BACKTEST_FLAGS = ['last', 'url', ...ACCESS_KEY_FLAGS, 'ca'];

export const BACKTEST_HELP = `  --last TIME
      Of test: for so long before now the rule is followed, such as 24h (default: as long as events are kept).
  --url URL
      Of test: the program to ask (default ${DEFAULT_URL}).
${ACCESS_KEY_HELP}
      The key needs all zones of the rule.
  --ca FILE
      PEM certificates of authorities to trust beside the usual ones.
`;

/** The program reads on for as long as nothing is told. */
const SILENCE_MS = 600_000;
const NDJSON = 'application/x-ndjson';

/** The lines of the program. Throws DeliveryError. */
async function* linesOfProgram(file: string, flags: Readonly<Record<string, string>>, io: CommandIo): AsyncGenerator<BacktestLine> {
  const { url: base, accessKey, client } = programOf(flags, io.env);
  try {
    const url = addressIn(base, '/alerts/test');
    const lastMs = optional(flags, 'last', (text, flag) => duration(flag, text));
    if (lastMs !== null) url.searchParams.set('from', String(Math.max(0, Date.now() - lastMs)));
    const headers = { accept: NDJSON, 'content-type': 'application/yaml', ...(accessKey === null ? {} : { accesskey: accessKey }) };
    const asked = { method: 'POST' as const, url, headers, body: readFileSync(file) };
    const answer = await client.open({ ...asked, signal: new AbortController().signal, silenceMs: SILENCE_MS });
    if (answer.status !== 200) throw await refusalOf(url.origin, answer);
    if (answer.headers['content-type']?.startsWith(NDJSON) !== true) throw new DeliveryError('refused', `${url.origin} is no shieldlog`);
    const lines = createInterface({ input: Readable.from(answer.body), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) yield JSON.parse(line) as BacktestLine;
  } finally {
    client.close();
  }
}

/** Has the program try the rule of a file, and tells what it says. Throws CommandFailed where it does not do it, or not to the end. */
export async function testOnProgram(file: string, flags: Readonly<Record<string, string>>, io: CommandIo): Promise<ExitStatus> {
  try {
    for await (const line of linesOfProgram(file, flags, io)) {
      if (line.kind === 'alert') io.stdout.write(`${JSON.stringify(line.alert)}\n`);
      if (line.kind === 'summary') {
        io.stderr.write(`${printable(summaryText(line))}\n`);
        return 0;
      }
    }
  } catch (error) {
    if (error instanceof DeliveryError) throw asCommandError(new DeliveryError(error.code, error.message), '', {});
    throw error;
  }
  throw new CommandFailed('the backtest broke off: it has no summary');
}

function summaryText(summary: Extract<BacktestLine, { kind: 'summary' }>): string {
  const { readFrom, readTo, lookedAt, counted, hits, told, heldBack, tooLate, bounded, unreadable } = summary;
  const times = [readFrom, readTo].map((ms) => new Date(ms).toISOString()).join(' to ');
  const counts = `events ${lookedAt}, of the rule ${counted}, hits ${hits}, alerts told ${told}, hits held back by quiet ${heldBack}`;
  const lacking = Object.entries({ 'too late': tooLate, bounded, unreadable }).flatMap(([name, count]) =>
    count > 0 ? [`${name} ${count}`] : [],
  );
  return `${times}: ${[counts, ...lacking].join(', ')}`;
}
