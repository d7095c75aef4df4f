/** Limits of the group-by cache. */
export interface GroupByCacheLimits {
  /** What all of it may take, as it is estimated. */
  readonly budgetBytes: number;
  /** A search with more groups is not cached, because it would take the room of many. */
  readonly maxGroups: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Of the engine's memory. */
const LARGEST_SHARE = 1 / 16;
const MAX_GROUPS = 300_000;

export function groupByCacheLimitsOf(memoryLimitMb: number): GroupByCacheLimits {
  return { budgetBytes: Math.min(MAX_BYTES, memoryLimitMb * 1024 * 1024 * LARGEST_SHARE), maxGroups: MAX_GROUPS };
}
