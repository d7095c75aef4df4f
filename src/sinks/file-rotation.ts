import { parse } from 'node:path';

/** When a file is set aside for a new one, and what it is then called. */
export interface FileRotation {
  /** Before a batch that would make the file longer than this; null: never by size. */
  readonly sizeBytes: number | null;
  /** When the UTC clock passes a multiple of this; null: never by time. Milliseconds. */
  readonly everyMs: number | null;
  /** See `rotatedName`; has `{n}`. */
  readonly pattern: string;
  /** How many files that were set aside are kept; null: all of them. */
  readonly keep: number | null;
}

export const DEFAULT_PATTERN = '{stem}-{time}-{n}{ext}';

/** Whether the file is to be set aside before `batchBytes` more are written. An empty file never is. */
export function isRotationDue(
  { sizeBytes, everyMs }: FileRotation,
  file: { readonly size: number; readonly sinceMs: number },
  batchBytes: number,
  nowMs: number,
): boolean {
  if (file.size === 0) return false;
  if (sizeBytes !== null && file.size + batchBytes > sizeBytes) return true;
  return everyMs !== null && Math.floor(nowMs / everyMs) !== Math.floor(file.sinceMs / everyMs);
}

/**
 * The name for a file that is set aside, without its folder: `{stem}` and `{ext}` are the parts of its own name, `{time}` the UTC second
 * (`20261121T140000Z`), `{n}` a number.
 */
export function rotatedName(pattern: string, path: string, nowMs: number, number: number): string {
  const { name, ext } = parse(path);
  const time = new Date(nowMs).toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  const parts: Readonly<Record<string, string>> = { stem: name, ext, time, n: String(number) };
  return pattern.replace(/\{(stem|ext|time|n)\}/g, (_whole, part: string) => parts[part] ?? '');
}

/** What is wrong with a pattern, as words that follow it; null where nothing is. */
export function patternFault(pattern: string): string | null {
  if (!pattern.includes('{n}')) return 'does not have {n}, without which two files could get one name';
  const unknown = pattern.match(/\{[^}]*\}/g)?.find((part) => !/^\{(stem|ext|time|n)\}$/.test(part));
  if (unknown !== undefined) return `has ${unknown}`;
  return /[/\\\0]/.test(pattern) ? 'has a slash' : null;
}
