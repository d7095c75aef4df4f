/** A search that a person has given a name. Its link is the part of the address from `?`: all of the page but the access key. */
export interface SavedSearch {
  readonly name: string;
  readonly link: string;
}

/** Limits of a list. Browsers keep some five million characters for a page. */
const MOST_SEARCHES = 200;
const LONGEST_NAME = 100;
const LONGEST_LINK = 20_000;

/** What a file of searches begins with: the version of its shape. */
const VERSION = 1;

/** A list that cannot be taken. The message names the place, the value and what is allowed. */
export class SavedSearchFault extends Error {
  override readonly name = 'SavedSearchFault';
}

/** The list as the JSON of a file. */
export function searchesFile(searches: readonly SavedSearch[]): string {
  return `${JSON.stringify({ shieldlogSearches: VERSION, searches: searches.map(({ name, link }) => ({ name, link })) }, null, 2)}\n`;
}

/** Reads the JSON of a file. Throws {@link SavedSearchFault} with the first thing that is wrong; then nothing of it is taken. */
export function readSearchesFile(text: string): readonly SavedSearch[] {
  const file = membersOf(parsed(text), 'the file', ['shieldlogSearches', 'searches']);
  if (file['shieldlogSearches'] !== VERSION) {
    throw new SavedSearchFault(`shieldlogSearches is ${shown(file['shieldlogSearches'])}; this page reads ${VERSION}`);
  }
  const { searches } = file;
  if (!Array.isArray(searches)) throw new SavedSearchFault(`searches is ${shown(searches)}; it has to be a list`);
  return checkedList(searches.map((search, index) => readSearch(search, `searches[${index}]`)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SavedSearchFault(`the file is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function membersOf(value: unknown, place: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SavedSearchFault(`${place} is ${shown(value)}; it has to be an object with ${names.join(' and ')}`);
  }
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new SavedSearchFault(`${place} has a member ${shown(unknown)}; it may have ${names.join(' and ')}`);
  return value as Readonly<Record<string, unknown>>;
}

function readSearch(value: unknown, place: string): SavedSearch {
  const { name, link } = membersOf(value, place, ['name', 'link']);
  return { name: checkedName(name, `${place}.name`), link: checkedLink(link, `${place}.link`) };
}

function checkedName(name: unknown, place: string): string {
  const text = typeof name === 'string' ? name.trim() : '';
  if (text !== '' && text.length <= LONGEST_NAME) return text;
  throw new SavedSearchFault(`${place} is ${shown(name)}; it has to be a text of 1 to ${LONGEST_NAME} characters`);
}

/** A link is only ever read as parameters of this page: it leads nowhere else, and it sets no access key. */
function checkedLink(link: unknown, place: string): string {
  const isLink = typeof link === 'string' && link.startsWith('?') && link.length <= LONGEST_LINK;
  if (!isLink) {
    throw new SavedSearchFault(`${place} is ${shown(link)}; it has to begin with ? and have at most ${LONGEST_LINK} characters`);
  }
  if (new URLSearchParams(link).has('accessKey')) throw new SavedSearchFault(`${place} has an accessKey; keys are not saved`);
  return link;
}

function checkedList(searches: readonly SavedSearch[]): readonly SavedSearch[] {
  if (searches.length > MOST_SEARCHES) {
    throw new SavedSearchFault(`there would be ${searches.length} searches; at most ${MOST_SEARCHES} are kept: remove some first`);
  }
  const names = searches.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new SavedSearchFault(`the name ${shown(repeated)} stands twice; each search needs one of its own`);
  return searches;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** The list with a search, in place of the one of the same name if there is one. Throws {@link SavedSearchFault}. */
export function withSearch(searches: readonly SavedSearch[], name: string, link: string): readonly SavedSearch[] {
  const search = { name: checkedName(name, 'the name'), link: checkedLink(link, 'the link') };
  const at = searches.findIndex((other) => other.name === search.name);
  return checkedList(at === -1 ? [...searches, search] : searches.with(at, search));
}

/**
 * The list with those of a file. One that is there already, under its name or with a number behind it, is not taken again; one whose name
 * another search has gets a number, so that nothing of the list is lost. Throws {@link SavedSearchFault}.
 */
export function withImported(searches: readonly SavedSearch[], imported: readonly SavedSearch[]): readonly SavedSearch[] {
  return checkedList(imported.reduce((list, search) => withRestored(list, search, list.length), searches));
}

/** The list with a search at a place of it, which has a number behind its name if another one has the name. */
export function withRestored(searches: readonly SavedSearch[], search: SavedSearch, at: number): readonly SavedSearch[] {
  const name = freeName(search, searches);
  return name === null ? searches : searches.toSpliced(at, 0, { ...search, name });
}

/** The name of a search, or the first with a number that no other one has; null where the search is there already. */
function freeName({ name, link }: SavedSearch, searches: readonly SavedSearch[]): string | null {
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : ` (${number})`;
    const candidate = name.slice(0, LONGEST_NAME - end.length) + end;
    const holder = searches.find((search) => search.name === candidate);
    if (holder === undefined) return candidate;
    if (holder.link === link) return null;
  }
}
