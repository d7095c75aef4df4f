import { type ReadonlySignal, signal } from '@preact/signals';
import { keepText, keptText } from '../api/kept-text.ts';
import type { FileFormat } from './group-lines.ts';

const STORED_AS = 'shieldlog byte order mark';

const storage = (): Storage => localStorage;

const isChosen = signal(keptText(storage, STORED_AS) === 'on');

/** Whether files of CSV begin with a byte order mark, by which Excel knows UTF-8; the browser keeps it. */
export const hasByteOrderMark: ReadonlySignal<boolean> = isChosen;

export function toggleByteOrderMark(): void {
  isChosen.value = !isChosen.peek();
  keepText(storage, STORED_AS, isChosen.peek() ? 'on' : 'off');
}

/** The text of a file, behind the mark where that is chosen. */
export function marked(text: string, format: FileFormat): string {
  return format === 'csv' && isChosen.peek() ? `\ufeff${text}` : text;
}
