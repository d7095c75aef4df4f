/** How numbers become places along an axis. */
export interface Scale {
  readonly kind: 'log' | 'linear';
  readonly low: number;
  readonly high: number;
  /** Ascending, within low and high. */
  readonly ticks: readonly number[];
}

/**
 * From the power of ten below the smallest of the values to the greatest. What is not above 0 has no logarithm and counts as the low end.
 */
export function logScale(values: readonly number[]): Scale {
  const known = values.filter((value) => Number.isFinite(value) && value > 0);
  // A value on the low end itself would have a bar without length.
  const low = 10 ** Math.floor(Math.log10(Math.min(...known, Number.MAX_VALUE) * 0.8));
  const from = known.length === 0 ? 1 : low;
  const high = Math.max(...known, from * 10);
  const decades = Math.floor(Math.log10(high / from) + 1e-9);
  return { kind: 'log', low: from, high, ticks: Array.from({ length: decades + 1 }, (_, place) => from * 10 ** place) };
}

/** From zero to the first round number that none of the values exceeds. */
export function linearScale(values: readonly number[]): Scale {
  const highest = Math.max(0, ...values.filter((value) => Number.isFinite(value))) || 1;
  const magnitude = 10 ** Math.floor(Math.log10(highest));
  const step = [0.2, 0.5, 1, 2].map((part) => part * magnitude).find((part) => highest / part <= 6) as number;
  const count = Math.ceil(highest / step - 1e-9);
  return { kind: 'linear', low: 0, high: count * step, ticks: Array.from({ length: count + 1 }, (_, place) => place * step) };
}

/** Exactly from the smallest to the greatest, with these ticks. */
export function fittedLogScale(ticks: readonly number[]): Scale {
  return { kind: 'log', low: Math.min(...ticks), high: Math.max(...ticks), ticks };
}

/** Where a value lies between the low (0) and the high end (1); what is outside or unknown lies on the nearer end. */
export function placeOn({ kind, low, high }: Scale, value: number): number {
  const across = kind === 'log' ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Number.isNaN(across) ? 0 : Math.min(1, Math.max(0, across));
}
