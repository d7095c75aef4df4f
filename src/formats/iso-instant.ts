const LATEST_MS = 8_640_000_000_000_000;
const THOUSANDTHS = Array.from({ length: 1000 }, (_, ms) => `.${String(ms).padStart(3, '0')}Z`);

/**
 * Writes Unix milliseconds as `2026-01-31T23:59:59.500Z`. Events come in bursts of the same second, whose text is kept. What lies outside
 * the years that ISO 8601 has four digits for is written with six and a sign, and what lies outside the days of JavaScript as the nearest
 * of them.
 */
export function instantWriter(): (unixMs: number) => string {
  let second = Number.NaN;
  let text = '';
  return (unixMs) => {
    const ms = Math.min(LATEST_MS, Math.max(-LATEST_MS, unixMs));
    const flooredSecond = Math.floor(ms / 1000);
    if (flooredSecond !== second) {
      text = new Date(flooredSecond * 1000).toISOString().slice(0, -5);
      second = flooredSecond;
    }
    return text + THOUSANDTHS[ms - flooredSecond * 1000];
  };
}
