import { styleText } from 'node:util';
import { UsageError } from '../command.ts';
import { choices } from '../flag-values.ts';
import { cellOf, type OutputColumn, recordJson, recordOf } from './output-columns.ts';
import { type Cell, columnWidths, type TerminalColumn, tableLine, textCell } from './table.ts';

/** How rows and groups are written: `table` for people, `ndjson` one a line, `json` the whole answer as it came. */
export type OutputForm = 'table' | 'ndjson' | 'json';

/** The form that the switches name, of which at most one may be given; without one a table on a terminal, and NDJSON elsewhere. */
export function outputForm(switches: ReadonlySet<string>, forms: readonly OutputForm[], stdout: NodeJS.WriteStream): OutputForm {
  const given = forms.filter((form) => switches.has(form));
  if (given.length > 1) throw new UsageError(`${given.map((form) => `--${form}`).join(' and ')} are both given; allowed: one of them`);
  return given[0] ?? (stdout.isTTY ? 'table' : 'ndjson');
}

/** The columns that `--columns` names, or the usual ones. Throws UsageError. */
export function chosenColumns(text: string | undefined, usual: readonly string[], all: readonly OutputColumn[]): readonly OutputColumn[] {
  const names =
    text === undefined
      ? usual
      : choices(
          'columns',
          text,
          all.map(({ name }) => name),
        );
  return names.flatMap((name) => all.filter((column) => column.name === name));
}

export interface EventWriterOptions {
  readonly form: 'table' | 'ndjson';
  /** The columns of a table. */
  readonly columns: readonly OutputColumn[];
  /** Whether lines of NDJSON have these columns only, instead of the whole record. */
  readonly isCutToColumns: boolean;
  /** The members of a record that are objects with columns in them. */
  readonly objects: readonly string[];
  /** Whether more records follow the first ones, so that their columns should have room from the beginning. */
  readonly isStream: boolean;
  readonly stdout: NodeJS.WriteStream;
  /** Called with the names of the columns for which the terminal has no room, whenever they are others than before. */
  readonly onLeftOut: (names: readonly string[]) => void;
}

/** What a person is told of columns that are left out. */
export function leftOutText(names: readonly string[]): string {
  return `the terminal has no room for ${names.join(', ')}; --columns chooses others, --ndjson has all`;
}

/** The columns of the terminal that usual values of a stream need. */
const STREAM_WIDTHS: Readonly<Record<string, number>> = { time: 24, action: 10, ip: 15, ruleId: 14, feature: 14, url: 40 };

/** Returns a function that makes lines of records, given as JSON. Tables that go on have columns as wide as what has come so far. */
export function eventWriter(options: EventWriterOptions): (records: readonly string[]) => Buffer {
  const { form, columns, isCutToColumns, objects } = options;
  if (form === 'table') return tableWriter(options);
  const lineOf = (json: string): string => (isCutToColumns ? recordJson(columns, recordOf(json, objects)) : json);
  return (records) => Buffer.from(records.map((json) => `${lineOf(json)}\n`).join(''));
}

const ACTION_STYLES: readonly (readonly [action: string, style: 'red' | 'yellow' | 'green'])[] = [
  ['blocked', 'red'],
  ['challenged', 'yellow'],
  ['allowed', 'green'],
];

/** A column as the table draws it. Colours are for terminals that have them, and none with NO_COLOR. */
function tableColumn({ name, kind }: OutputColumn, stdout: NodeJS.WriteStream): TerminalColumn {
  const styled = (style: 'red' | 'yellow' | 'green' | 'cyan', text: string): string => styleText(style, text, { stream: stdout });
  const style = (text: string): string => {
    if (kind === 'sparkline') return styled('cyan', text);
    const found = name === 'action' ? ACTION_STYLES.find(([action]) => action === text.trim().toLowerCase()) : undefined;
    return found === undefined ? text : styled(found[1], text);
  };
  return { header: name, isRight: kind === 'number', isStiff: kind !== 'text' && kind !== 'json' && kind !== 'sparkline', style };
}

function tableWriter({ columns, objects, isStream, stdout, onLeftOut }: EventWriterOptions): (records: readonly string[]) => Buffer {
  const drawn = columns.map((column) => tableColumn(column, stdout));
  const headers = drawn.map(({ header }) => textCell(header));
  const bold = drawn.map((column) => ({ ...column, style: (text: string) => styleText('bold', text, { stream: stdout }) }));
  let wanted = headers.map(({ width }, index) => Math.max(width, (isStream ? STREAM_WIDTHS[columns[index]?.name ?? ''] : undefined) ?? 0));
  let isBegun = false;
  let shown = columns.length;
  return (records) => {
    const rows = records.map((json) => {
      const record = recordOf(json, objects);
      return columns.map((column): Cell => cellOf(column, record));
    });
    wanted = wanted.map((width, index) => rows.reduce((most, cells) => Math.max(most, cells[index]?.width ?? 0), width));
    const widths = columnWidths(drawn, wanted, terminalColumns(stdout));
    if (widths.length !== shown) onLeftOut(columns.slice(widths.length).map(({ name }) => name));
    shown = widths.length;
    const lines = rows.map((cells) => tableLine(drawn, widths, cells));
    if (!isBegun && rows.length > 0) lines.unshift(tableLine(bold, widths, headers));
    isBegun ||= rows.length > 0;
    return Buffer.from(lines.map((line) => `${line}\n`).join(''));
  };
}

/** The columns of the terminal. A table that goes elsewhere is as wide as it is. */
function terminalColumns({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
}
