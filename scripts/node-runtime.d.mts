export function isRecentEnough(version: string): boolean;
export function findNode(running: { root: string; execPath: string; version: string }): string | null;
