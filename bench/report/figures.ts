/** The value that the given share (0..1) of the values does not exceed, by the nearest rank. NaN if there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN) + (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN)) / 2;
}

/** Says what goes on. */
export const tell = (what: string): void => void process.stderr.write(`${what}\n`);
/** Writes a result. */
export const show = (text: string): void => void process.stdout.write(`${text}\n`);

const MIB = 1024 * 1024;

/** A line with the name of a figure and its value. Values of several lines are aligned. */
export function line(name: string, value: string): string {
  return `${name.padEnd(58)} ${value}`;
}

export const count = (value: number) => Math.round(value).toLocaleString('en-US');
export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
/** Bytes in MiB. */
export const mib = (value: number) => `${count(value / MIB)} MiB`;

/** A table for a terminal. The first column is aligned to the left, the others to the right. */
export function textTable(title: string, header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const written = all.map((row) =>
    widths
      .map((width, column) => (column === 0 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width)))
      .join('  ')
      .trimEnd(),
  );
  return [title, ...written].join('\n');
}
