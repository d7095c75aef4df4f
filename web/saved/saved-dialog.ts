import { useEffect, useState } from 'preact/hooks';
import { downloadText } from '../files/save-file.ts';
import { apply, explorer, ignoredOfLink } from '../state/explorer.ts';
import { linkOf, readLink } from '../state/link.ts';
import { Dialog } from '../widgets/dialog.ts';
import { html } from '../widgets/html.ts';
import { useKeptFocus } from '../widgets/kept-focus.ts';
import {
  readSearchesFile,
  type SavedSearch,
  SavedSearchFault,
  searchesFile,
  withImported,
  withRestored,
  withSearch,
} from './saved-searches.ts';
import {
  isAboutSearches,
  removeUnreadable,
  restoreUnreadable,
  storedSearches,
  storeSearches,
  UnreadableSearches,
} from './search-storage.ts';

const storage = (): Storage => localStorage;

/** The link of the search alone: without an event that is open, and not live. */
function linkOfSearch(): string {
  return `?${linkOf({ ...explorer.peek(), event: null, isLive: false })}`;
}

interface Listed {
  readonly searches: readonly SavedSearch[];
  /** What is wrong with the list or with what was tried last. */
  readonly fault: string | null;
  /** What is stored in place of a list; null where a list or nothing is. */
  readonly unreadable: string | null;
}

type ListChange = (before: readonly SavedSearch[]) => readonly SavedSearch[];

const NOTHING_READ: Listed = { searches: [], fault: null, unreadable: null };

const readListed = (): Listed => attempt(NOTHING_READ, () => storedSearches(storage));

/** The list, kept up with that of other tabs, and functions that change it. A change that is refused leaves it as it was. */
function useSearches() {
  const [listed, setListed] = useState<Listed>(readListed);
  useEffect(() => {
    const changed = (event: StorageEvent): void => {
      if (isAboutSearches(event)) setListed(readListed());
    };
    addEventListener('storage', changed);
    return () => removeEventListener('storage', changed);
  }, []);
  const tryTo = (make: () => readonly SavedSearch[]): boolean => {
    const next = attempt(listed, make);
    setListed(next);
    return next.fault === null;
  };
  const change = (make: ListChange): boolean =>
    tryTo(() => {
      // Another tab may have changed the list a moment ago.
      const made = make(storedSearches(storage));
      storeSearches(storage, made);
      return made;
    });
  const changeUnreadable = (make: (text: string) => void, text: string): boolean =>
    tryTo(() => {
      make(text);
      return storedSearches(storage);
    });
  const refuse = (message: string): void => setListed({ ...listed, fault: message });
  return { ...listed, change, changeUnreadable, refuse };
}

function attempt(before: Listed, make: () => readonly SavedSearch[]): Listed {
  try {
    return { searches: make(), fault: null, unreadable: null };
  } catch (error) {
    if (!(error instanceof SavedSearchFault)) throw error;
    return { ...before, fault: error.message, unreadable: error instanceof UnreadableSearches ? error.text : before.unreadable };
  }
}

/** What was done last in the dialog, which the page behind it cannot say: screen readers leave that alone, and the dialog covers it. */
interface Done {
  readonly words: string;
  /** Takes it back; null where nothing is lost by it. */
  readonly undo: (() => void) | null;
}

/** Of `data-focus`: the field of the name, and the button that removes a search. */
const NAME_FIELD = 'name';
const removeOf = (name: string): string => `remove ${name}`;

/** The searches that this browser keeps. */
export function SavedDialog({ onClose }: { readonly onClose: () => void }) {
  const { searches, fault, unreadable, change, changeUnreadable, refuse } = useSearches();
  const [done, setDone] = useState<Done | null>(null);
  const { list, keep } = useKeptFocus<HTMLDivElement>(searches.map(({ name }) => name));
  const finish = (isDone: boolean, words: string, undo: ListChange | null = null, focus: string = NAME_FIELD): boolean => {
    const takeBack = (back: ListChange) => (): void => {
      if (change(back)) keep(focus);
      setDone(null);
    };
    setDone(isDone ? { words, undo: undo === null ? null : takeBack(undo) } : null);
    return isDone;
  };
  const open = ({ name, link }: SavedSearch): void => {
    const { state, ignored } = readLink(link);
    apply({ ...state, clock: explorer.peek().clock }, { words: `Opened ${name}` });
    ignoredOfLink.value = ignored;
    onClose();
  };
  const save = (typed: string): boolean => {
    const name = typed.trim();
    const replaced = searches.find((search) => search.name === name);
    const isDone = change((before) => withSearch(before, name, linkOfSearch()));
    if (replaced === undefined) return finish(isDone, `Saved ${name}`);
    return finish(isDone, `Replaced ${name}`, (before) => withSearch(before, name, replaced.link));
  };
  const remove = (search: SavedSearch): void => {
    const { name } = search;
    const at = searches.indexOf(search);
    const beside = searches[at + 1] ?? searches[at - 1];
    const isDone = change((before) => before.filter((other) => other.name !== name));
    if (isDone) keep(beside === undefined ? NAME_FIELD : removeOf(beside.name));
    finish(isDone, `Removed ${name}`, (before) => withRestored(before, search, at), removeOf(name));
  };
  const imported = async (file: File): Promise<void> => {
    const text = await textOf(file);
    if (text instanceof SavedSearchFault) {
      setDone(null);
      refuse(text.message);
      return;
    }
    let added = 0;
    const isDone = change((before) => {
      const after = withImported(before, readSearchesFile(text));
      added = after.length - before.length;
      return after;
    });
    finish(isDone, `Imported ${file.name}: ${added} new`);
  };
  const exported = (): void => downloadText(searchesFile(searches), 'shieldlog-searches.json');
  const startAnew = (text: string): void => {
    const isDone = changeUnreadable((stored) => removeUnreadable(storage, stored), text);
    const undo = (): void => {
      changeUnreadable((removed) => restoreUnreadable(storage, removed), text);
      setDone(null);
    };
    setDone(isDone ? { words: 'Started with an empty list', undo } : null);
  };
  return html`<${Dialog} title="Saved searches" class="saved" onClose=${onClose}>
    <div class="saved-body" ref=${list}>
      <${SaveForm} searches=${searches} onSave=${save} />
      ${fault === null ? null : html`<p class="failed" role="alert">${fault}</p>`}
      ${unreadable === null ? null : html`<${Unreadable} text=${unreadable} onStartAnew=${startAnew} />`}
      <p class="done" role="status">
        ${done === null ? null : html`<bdi>${done.words}</bdi>`}
        ${done === null || done.undo === null ? null : html` <button onClick=${done.undo}>Undo</button>`}
      </p>
      ${searches.length === 0 && fault === null ? html`<p class="hint">This browser keeps no search yet.</p>` : null}
      ${
        searches.length === 0
          ? null
          : html`<ul aria-label="Saved searches">
              ${searches.map((search) => html`<${SavedLine} key=${search.name} search=${search} onOpen=${open} onRemove=${remove} />`)}
            </ul>`
      }
      <div class="exchange">
        <button disabled=${searches.length === 0} onClick=${exported}>Export as JSON</button>
        <${ImportButton} onFile=${imported} />
      </div>
    </div>
  </${Dialog}>`;
}

interface UnreadableProps {
  readonly text: string;
  readonly onStartAnew: (text: string) => void;
}

/** What can be done where something is stored that is no list. It stays as it is until a person chooses to begin with an empty one. */
function Unreadable({ text, onStartAnew }: UnreadableProps) {
  return html`<p class="unreadable">
    <button onClick=${() => downloadText(text, 'shieldlog-searches-unreadable.txt')}>Download what is stored</button>
    <button onClick=${() => onStartAnew(text)}>Start with an empty list</button>
  </p>`;
}

interface SavedLineProps {
  readonly search: SavedSearch;
  readonly onOpen: (search: SavedSearch) => void;
  readonly onRemove: (search: SavedSearch) => void;
}

function SavedLine({ search, onOpen, onRemove }: SavedLineProps) {
  const { name, link } = search;
  return html`<li>
    <button class="line" onClick=${() => onOpen(search)}><bdi>${name}</bdi></button>
    <code title=${link}>${decoded(link)}</code>
    <button
      class="quiet"
      data-focus=${removeOf(name)}
      aria-label=${`Remove ${name}`}
      onClick=${() => onRemove(search)}
    >✕</button>
  </li>`;
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
    if (onSave(name)) setName('');
  };
  return html`<form onSubmit=${submitted}>
    <label>
      Name of the present search
      <input
        autofocus
        data-focus=${NAME_FIELD}
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

/** The text of a file, or why there is none. */
async function textOf(file: File): Promise<string | SavedSearchFault> {
  if (file.size > MOST_FILE_BYTES) {
    return new SavedSearchFault(`${file.name} has ${file.size} bytes; a file of searches has at most ${MOST_FILE_BYTES}`);
  }
  try {
    return await file.text();
  } catch (error) {
    return new SavedSearchFault(`${file.name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function ImportButton({ onFile }: { readonly onFile: (file: File) => Promise<void> }) {
  const chosen = async (event: Event): Promise<void> => {
    const input = event.currentTarget as HTMLInputElement;
    const file = input.files?.[0];
    if (file === undefined) return;
    await onFile(file);
    input.value = '';
  };
  return html`<label class="file">
    Import JSON <input type="file" accept="application/json,.json" onChange=${(event: Event) => void chosen(event)} />
  </label>`;
}
