/** Where the browser keeps texts: `localStorage` or `sessionStorage`. Even to name one may throw. */
type OpenStorage = () => Pick<Storage, 'getItem' | 'setItem'>;

/** The text that the browser keeps under a name. Null where there is none, and where the browser lets the page keep nothing. */
export function keptText(storage: OpenStorage, name: string): string | null {
  try {
    return storage().getItem(name);
  } catch {
    // What is kept makes the page more convenient; without it, everything is as at first.
    return null;
  }
}

/** Keeps a text. Where the browser refuses, the choice holds until the page is left. */
export function keepText(storage: OpenStorage, name: string, text: string): void {
  try {
    storage().setItem(name, text);
  } catch {
    // The page has the choice itself.
  }
}
