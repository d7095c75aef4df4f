import { readSearchesFile, type SavedSearch, SavedSearchFault, searchesFile } from './saved-searches.ts';

const KEY = 'shieldlog.searches';

/** Where the list is kept: `localStorage`, which may be absent, full or forbidden. */
export type TextStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** What is stored is no list: it was damaged, or something else has written it. */
export class UnreadableSearches extends SavedSearchFault {
  readonly text: string;

  constructor(message: string, text: string) {
    super(message);
    this.text = text;
  }
}

/**
 * The list of this browser. Throws {@link UnreadableSearches} where it cannot be read, which leaves it as it is, and
 * {@link SavedSearchFault} where the browser refuses.
 */
export function storedSearches(storage: () => TextStorage): readonly SavedSearch[] {
  let text: string | null;
  try {
    text = storage().getItem(KEY);
  } catch (error) {
    throw new SavedSearchFault(`this browser lets the page keep nothing: ${messageOf(error)}`);
  }
  if (text === null) return [];
  try {
    return readSearchesFile(text);
  } catch (error) {
    const message = `the searches of this browser cannot be read, and are left as they are (${KEY}): ${messageOf(error)}`;
    throw new UnreadableSearches(message, text);
  }
}

/** Keeps the list. Throws {@link SavedSearchFault} where the browser refuses; then the list of before stays. */
export function storeSearches(storage: () => TextStorage, searches: readonly SavedSearch[]): void {
  try {
    storage().setItem(KEY, searchesFile(searches));
  } catch (error) {
    throw new SavedSearchFault(`this browser does not keep the searches: ${messageOf(error)}`);
  }
}

/**
 * Removes a text that is no list, so that the list is empty. Throws {@link SavedSearchFault} where something else is stored by now, such as
 * the list of another tab, and where the browser refuses.
 */
export function removeUnreadable(storage: () => TextStorage, text: string): void {
  replaceStored(storage, text, (kept) => kept.removeItem(KEY));
}

/** Puts such a text back. Throws {@link SavedSearchFault} where something is stored by now, and where the browser refuses. */
export function restoreUnreadable(storage: () => TextStorage, text: string): void {
  replaceStored(storage, null, (kept) => kept.setItem(KEY, text));
}

function replaceStored(storage: () => TextStorage, before: string | null, replace: (kept: TextStorage) => void): void {
  let isAsBefore: boolean;
  try {
    const kept = storage();
    isAsBefore = kept.getItem(KEY) === before;
    if (isAsBefore) replace(kept);
  } catch (error) {
    throw new SavedSearchFault(`this browser does not change what is stored (${KEY}): ${messageOf(error)}`);
  }
  if (!isAsBefore) throw new SavedSearchFault(`another tab has changed what is stored (${KEY}); it is left as it is`);
}

/** Whether an event of another tab is about the list. */
export function isAboutSearches({ key }: { readonly key: string | null }): boolean {
  return key === KEY || key === null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
