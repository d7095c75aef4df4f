import type { SearchActivity } from '../../../../store/embedded/runtime/search-activity.ts';

/** A search that goes on until it is ended. */
export function beginSearch(searches: SearchActivity): { readonly end: () => void; readonly ended: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { end: resolve, ended: searches.during(() => promise) };
}
