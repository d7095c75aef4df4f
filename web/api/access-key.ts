import { signal } from '@preact/signals';
import { keepText, keptText } from './kept-text.ts';

const STORED_AS = 'shieldlog access key';

const storage = (): Storage => sessionStorage;

/** Why the program refused the key of the last request; null after an answer. Each refusal is another object. */
export const keyRefusal = signal<{ readonly message: string } | null>(null);

/** The key that requests carry, empty where there is none. It lives as long as the tab and is in no link. */
export const accessKey = signal(keptText(storage, STORED_AS) ?? '');

export function setAccessKey(key: string): void {
  keepText(storage, STORED_AS, key);
  keyRefusal.value = null;
  accessKey.value = key;
}
