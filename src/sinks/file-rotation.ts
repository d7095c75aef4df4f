import { parse } from 'node:path';

/** When a file is rotated, and the name that it gets. */
export interface FileRotation {
  /** The maximum length of the file; null: no rotation by size. */
  readonly sizeBytes: number | null;
  /** The file is rotated when the UTC clock passes a multiple of so many milliseconds; null: no rotation by time. */
  readonly everyMs: number | null;
  /** The pattern of `rotatedName`, with `{n}`. */
  readonly pattern: string;
  /** How many rotated files are kept; null: all. */
  readonly keep: number | null;
}

export const DEFAULT_PATTERN = '{stem}-{time}-{n}{ext}';

/** Whether the file has to be rotated before the next `batchBytes` are written. An empty file is never rotated. */
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
 * The name of a rotated file, without its folder: `{stem}` and `{ext}` are the parts of the file's name, `{time}` is the UTC second
 * (`20261121T140000Z`), and `{n}` is `number`.
 */
export function rotatedName(pattern: string, path: string, nowMs: number, number: number): string {
  const { name, ext } = parse(path);
  const time = new Date(nowMs).toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
  const parts: Readonly<Record<string, string>> = { stem: name, ext, time, n: String(number) };
  return pattern.replace(/\{(stem|ext|time|n)\}/g, (_whole, part: string) => parts[part] ?? '');
}

/** Says what is wrong with a pattern, in words that follow it; null for a valid pattern. */
export function patternFault(pattern: string): string | null {
  if (!pattern.includes('{n}')) return 'does not have {n}, without which two files could get one name';
  const unknown = pattern.match(/\{[^}]*\}/g)?.find((part) => !/^\{(stem|ext|time|n)\}$/.test(part));
  if (unknown !== undefined) return `has ${unknown}`;
  return /[/\\\0]/.test(pattern) ? 'has a slash' : null;
}
