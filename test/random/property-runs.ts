const VARIABLE = 'PROPERTY_FACTOR';

/** How often a property is tried: so often, times the factor in the environment. `.ci/run` sets one, to find what few runs do not. */
export function propertyRuns(usual: number): number {
  const text = process.env[VARIABLE] ?? '1';
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw new Error(`${VARIABLE} is "${text}"; allowed: an integer from 1 to 9999`);
  }
  return usual * Number(text);
}
