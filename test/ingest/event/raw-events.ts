/** The time the tests run at. */
export const NOW = Date.UTC(2026, 4, 12, 15, 30);
export const HOUR = 3_600_000;
export const RULES = { now: () => NOW, retentionMs: 72 * HOUR };

/** A raw event as JSON text; `more` replaces or adds members, undefined leaves one out. */
export function rawEvent(more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ logId: 'a', shieldZoneId: 7, timestamp: NOW, log: {}, ...more });
}

/** The same with members written as they are, for what `JSON.stringify` would not write. */
export function rawEventWith(members: string): string {
  return `${rawEvent().slice(0, -1)},${members}}`;
}

export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) {
    yield bytes.subarray(start, start + size);
  }
}
