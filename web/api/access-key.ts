import { signal } from '@preact/signals';

const STORED_AS = 'shieldlog access key';

/** The key that requests carry, empty where there is none. It lives as long as the tab and is in no link. */
export const accessKey = signal(globalThis.sessionStorage?.getItem(STORED_AS) ?? '');

export function setAccessKey(key: string): void {
  sessionStorage.setItem(STORED_AS, key);
  accessKey.value = key;
}
