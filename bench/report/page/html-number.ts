const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const FULL = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** As wide as a point and a digit, so that what stands before them is aligned in a column of numbers with one decimal. */
const NO_DECIMAL = '\u2008\u2007';

const UNKNOWN = '–';

const when = (value: number, shown: (value: number) => string) => (Number.isFinite(value) ? shown(value) : UNKNOWN);

/** A whole number with separators. */
export const whole = (value: number) => when(value, (known) => FULL.format(known));

/** 20M, 500K. */
export const short = (value: number) => when(value, (known) => SHORT.format(known));

/** One decimal below ten, none above: no more digits than a measurement has. */
export const twoDigits = (value: number) => when(value, (known) => (known < 9.95 ? TENTHS : FULL).format(known));

/** The same with the units below one another. */
export const aligned = (value: number) =>
  when(value, (known) => (known < 9.95 ? TENTHS.format(known) : `${FULL.format(known)}${NO_DECIMAL}`));

export const factor = (value: number) => when(value, (known) => `${known.toFixed(2)}×`);

/** An exponent, or another ratio without its sign. */
export const power = (value: number) => when(value, (known) => known.toFixed(2));

/** On an axis: a power of ten or another round number. */
export const tickNumber = (value: number) => (value < 1 ? String(Number(value.toPrecision(1))) : whole(value));

/** Of bytes, in MiB. */
export const mebibytes = (bytes: number) => whole(bytes / 1024 ** 2);
