import { effect } from '@preact/signals';
import { queryTerms } from '../../query/query-terms.ts';
import { printable, searchLineOf } from '../../query/search-line.ts';
import { explorer } from '../state/explorer.ts';
import { clauseWords } from './chips.ts';

/** Tabs show less; browsers keep titles in their history. */
const LONGEST_TITLE = 200;

/** Keeps the search in the title of the tab. */
export function startTitle(): void {
  effect(() => {
    const { search } = explorer.value;
    const { query, filters, exclude } = search;
    const words = (): string =>
      [
        ...queryTerms(query),
        ...filters.map((clause) => clauseWords('filters', clause)),
        ...exclude.map((clause) => clauseWords('exclude', clause)),
      ].join(' ');
    const line = printable(searchLineOf(search) ?? words());
    const shown = line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE)}…` : line;
    document.title = shown === '' ? 'shieldlog' : `${shown} · shieldlog`;
  });
}
