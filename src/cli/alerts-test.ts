import { readFileSync } from 'node:fs';
import { printable } from '../../query/search-line.ts';
import type { BacktestLine } from '../alerts/backtest.ts';
import { CommandFailed, type CommandIo, type ExitStatus } from './command.ts';
import { duration, optional } from './flag-values.ts';
import { askedLines, programOf } from './program-requests.ts';
import { PROGRAM_FLAGS, PROGRAM_HELP } from './server-flags.ts';

export const BACKTEST_FLAGS = ['last', ...PROGRAM_FLAGS];

export const BACKTEST_HELP = `  --last TIME
      Of test: for so long before now the rule is followed, such as 24h (default: as long as events are kept).
${PROGRAM_HELP}
      The key needs all zones of the rule.
`;

/** The lines of the program. Throws DeliveryError. */
function linesOfProgram(file: string, flags: Readonly<Record<string, string>>, io: CommandIo): AsyncIterable<BacktestLine> {
  const program = programOf(flags, io.env);
  const lastMs = optional(flags, 'last', (text, flag) => duration(flag, text));
  const query: Record<string, string> = lastMs === null ? {} : { from: String(Math.max(0, Date.now() - lastMs)) };
  const headers = { 'content-type': 'application/yaml' };
  return askedLines(program, { method: 'POST', path: '/alerts/test', query, headers, body: readFileSync(file) });
}

/** Has the program try the rule of a file, and tells what it says. Throws CommandFailed where it does not do it, or not to the end. */
export async function testOnProgram(file: string, flags: Readonly<Record<string, string>>, io: CommandIo): Promise<ExitStatus> {
  for await (const line of linesOfProgram(file, flags, io)) {
    if (line.kind === 'alert') io.stdout.write(`${JSON.stringify(line.alert)}\n`);
    if (line.kind === 'summary') {
      io.stderr.write(`${printable(summaryText(line))}\n`);
      return 0;
    }
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
