import { openEmbeddedStore } from './embedded/open-store.ts';
import type { StoreOptions } from './embedded/store-options.ts';
import type { EventStore } from './event-store.ts';

/** Which store a program stores its events in, with its settings. */
export type ChosenStore = { readonly kind: 'embedded' } & StoreOptions;

/**
 * Opens the store that is chosen and brings it to where it was. Everybody but the commands that work on a data folder opens it by this
 * function and knows it by its interface alone. Throws `StoreError`.
 */
export async function openStore(choice: ChosenStore): Promise<EventStore> {
  switch (choice.kind) {
    case 'embedded':
      return await openEmbeddedStore(choice);
  }
}
