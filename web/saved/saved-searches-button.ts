import { useEffect, useState } from 'preact/hooks';
import { downloadText } from '../files/save-file.ts';
import { apply, explorer } from '../state/explorer.ts';
import { linkOf, readLink } from '../state/link.ts';
import { Dialog } from '../widgets/dialog.ts';
import { html } from '../widgets/html.ts';
import { say } from '../widgets/toast.ts';
import { readSearchesFile, type SavedSearch, SavedSearchFault, searchesFile, withImported, withSearch } from './saved-searches.ts';
import { isAboutSearches, storedSearches, storeSearches } from './search-storage.ts';

const storage = (): Storage => localStorage;

/** The button of the searches that this browser keeps. */
export function SavedSearches() {
  const [isOpen, setOpen] = useState(false);
  const open = (): void => setOpen(true);
  return html`<button type="button" title="Searches with a name (s)" data-shortcut="s" aria-haspopup="dialog" onClick=${open}>
      Saved
    </button>
    ${isOpen ? html`<${SavedDialog} onClose=${() => setOpen(false)} />` : null}`;
}

/** The link of the search alone: without an event that is open, and not live. */
function linkOfSearch(): string {
  return `?${linkOf({ ...explorer.peek(), event: null, isLive: false })}`;
}

interface Listed {
  readonly searches: readonly SavedSearch[];
  /** What is wrong with the list or with what was tried last. */
  readonly fault: string | null;
}

/** The list, kept up with that of other tabs, and a function that changes it. A change that is refused leaves it as it was. */
function useSearches() {
  const [{ searches, fault }, setListed] = useState<Listed>(() => attempt([], () => storedSearches(storage)));
  useEffect(() => {
    const changed = (event: StorageEvent): void => {
      if (isAboutSearches(event)) setListed(attempt([], () => storedSearches(storage)));
    };
    addEventListener('storage', changed);
    return () => removeEventListener('storage', changed);
  }, []);
  const change = (make: (before: readonly SavedSearch[]) => readonly SavedSearch[]): boolean => {
    const next = attempt(searches, () => {
      // Another tab may have changed the list a moment ago.
      const made = make(storedSearches(storage));
      storeSearches(storage, made);
      return made;
    });
    setListed(next);
    return next.fault === null;
  };
  return { searches, fault, change };
}

function attempt(before: readonly SavedSearch[], make: () => readonly SavedSearch[]): Listed {
  try {
    return { searches: make(), fault: null };
  } catch (error) {
    if (!(error instanceof SavedSearchFault)) throw error;
    return { searches: before, fault: error.message };
  }
}

function SavedDialog({ onClose }: { readonly onClose: () => void }) {
  const { searches, fault, change } = useSearches();
  const open = ({ name, link }: SavedSearch): void => {
    const { state } = readLink(link);
    apply({ ...state, clock: explorer.peek().clock }, { words: `Opened ${name}` });
    onClose();
  };
  const remove = ({ name }: SavedSearch): void => {
    change((before) => before.filter((search) => search.name !== name));
  };
  const exported = (): void => downloadText(searchesFile(searches), 'shieldlog-searches.json');
  return html`<${Dialog} title="Saved searches" class="saved" onClose=${onClose}>
    <${SaveForm} searches=${searches} onSave=${(name: string) => change((before) => withSearch(before, name, linkOfSearch()))} />
    ${fault === null ? null : html`<p class="failed" role="alert">${fault}</p>`}
    ${
      searches.length === 0
        ? html`<p class="hint">This browser keeps no search yet.</p>`
        : html`<ul aria-label="Saved searches">
            ${searches.map(
              (search) => html`<li key=${search.name}>
                <button type="button" class="line" onClick=${() => open(search)}><bdi>${search.name}</bdi></button>
                <code title=${search.link}>${decoded(search.link)}</code>
                <button type="button" class="quiet" aria-label=${`Remove ${search.name}`} onClick=${() => remove(search)}>✕</button>
              </li>`,
            )}
          </ul>`
    }
    <footer>
      <button type="button" disabled=${searches.length === 0} onClick=${exported}>Export as JSON</button>
      <${ImportButton} onText=${(text: string) => change((before) => withImported(before, readSearchesFile(text)))} />
    </footer>
  </${Dialog}>`;
}

/** A link as people read it. */
function decoded(link: string): string {
  return [...new URLSearchParams(link)].map(([name, value]) => `${name}=${value}`).join(' ') || 'everything';
}

interface SaveFormProps {
  readonly searches: readonly SavedSearch[];
  /** Returns whether it was saved. */
  readonly onSave: (name: string) => boolean;
}

function SaveForm({ searches, onSave }: SaveFormProps) {
  const [name, setName] = useState('');
  const replaces = searches.some((search) => search.name === name.trim());
  const submitted = (event: Event): void => {
    event.preventDefault();
    if (!onSave(name)) return;
    say(`Saved ${name.trim()}`);
    setName('');
  };
  return html`<form onSubmit=${submitted}>
    <label>
      Name of the present search
      <input
        autofocus
        required
        maxlength="100"
        value=${name}
        onInput=${(event: Event) => setName((event.currentTarget as HTMLInputElement).value)}
      />
    </label>
    <button type="submit" class="primary">${replaces ? 'Replace' : 'Save'}</button>
  </form>`;
}

/** Searches take some kilobytes; a file of this size is something else. */
const MOST_FILE_BYTES = 8 * 1024 * 1024;

function ImportButton({ onText }: { readonly onText: (text: string) => boolean }) {
  const chosen = async (event: Event): Promise<void> => {
    const input = event.currentTarget as HTMLInputElement;
    const file = input.files?.[0];
    if (file === undefined) return;
    if (file.size > MOST_FILE_BYTES) say(`${file.name} has ${file.size} bytes; a file of searches has at most ${MOST_FILE_BYTES}`);
    else if (onText(await file.text())) say(`Imported ${file.name}`);
    input.value = '';
  };
  return html`<label class="file">
    Import JSON <input type="file" accept="application/json,.json" onChange=${(event: Event) => void chosen(event)} />
  </label>`;
}
