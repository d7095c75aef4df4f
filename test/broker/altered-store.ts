import type { EventStore } from '../../store/event-store.ts';

/** A real store that behaves differently in one respect, to bring about what a disk or a load would. */
export function alteredStore(store: EventStore, changes: Partial<EventStore>): EventStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value = (Reflect.get(changes, name) ?? Reflect.get(target, name)) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
