import { readSearchesFile, type SavedSearch, SavedSearchFault, searchesFile } from './saved-searches.ts';

const KEY = 'shieldlog.searches';

/** Where the list is kept: `localStorage`, which may be absent, full or forbidden. */
export type TextStorage = Pick<Storage, 'getItem' | 'setItem'>;

/** The list of this browser. Throws {@link SavedSearchFault} where it cannot be read; it is left as it is then. */
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
    throw new SavedSearchFault(`the searches of this browser cannot be read, and are left as they are (${KEY}): ${messageOf(error)}`);
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

/** Whether an event of another tab is about the list. */
export function isAboutSearches({ key }: { readonly key: string | null }): boolean {
  return key === KEY || key === null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
