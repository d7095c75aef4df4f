import { type ExplorerState, zonesText } from './explorer-state.ts';

/** What the answer to the request for a live tail is. */
export const TAIL_TYPE = 'text/event-stream';

/** The path, with its query, at which the events of a state come in. */
export function tailPath({ zones, search }: Pick<ExplorerState, 'zones' | 'search'>): string {
  return `shield/event-logs/${zonesText(zones)}/tail?${new URLSearchParams({ search: JSON.stringify(search) })}`;
}
