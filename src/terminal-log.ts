/** What pino writes to: one line of JSON a call. */
export interface LogDestination {
  write(line: string): void;
}

const LEVEL_NAMES: Readonly<Record<number, string>> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'ERROR', 60: 'FATAL' };
/** What every line has, or that is shown in a place of its own. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'err']);

function detailsOf(entry: Readonly<Record<string, unknown>>): string {
  return Object.entries(entry)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
}

function errorText(err: unknown): string {
  if (typeof err !== 'object' || err === null) return '';
  const { stack, message } = err as { readonly stack?: unknown; readonly message?: unknown };
  return `\n${String(stack ?? message)}`;
}

/** A line of pino's JSON as a person at a terminal wants it: `07:21:15 info  listening on http://… key=value`. */
function terminalLine(json: string): string {
  const entry = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const time = new Date(Number(entry['time'])).toISOString().slice(11, 19);
  const level = (LEVEL_NAMES[Number(entry['level'])] ?? String(entry['level'])).padEnd(5);
  return `${time} ${level} ${String(entry['msg'] ?? '')}${detailsOf(entry)}${errorText(entry['err'])}\n`;
}

/** Turns log lines readable on their way to a terminal. */
export function terminalLog(terminal: LogDestination): LogDestination {
  return { write: (line) => terminal.write(terminalLine(line)) };
}
