import type { GroupDimension } from '../../query/event-fields.ts';
import { filterChange } from '../state/conditions.ts';
import type { ExplorerState } from '../state/explorer-state.ts';

/** The change that shows the events of a group: its key as filters, and no groups. */
export function drillDown(state: ExplorerState, key: Readonly<Partial<Record<GroupDimension, string>>>): Partial<ExplorerState> {
  let change: Partial<ExplorerState> = { groupBy: [] };
  for (const field of state.groupBy) {
    change = { ...change, ...filterChange({ ...state, ...change }, 'filters', field, key[field] ?? '') };
  }
  return change;
}
