/** How long a run with new draws takes by default, in minutes. */
const USUAL_MINUTES = 30;

/** Reads the options of a run with new draws. Without a seed it has another one each time. `fail` is told what is wrong. */
export function minutesAndSeed(
  given: { readonly minutes?: string | undefined; readonly seed?: string | undefined },
  fail: (message: string) => never,
): { readonly minutes: number; readonly seed: number } {
  const minutes = Number(given.minutes ?? USUAL_MINUTES);
  if (!(minutes > 0 && minutes <= 1_440)) fail(`--minutes is "${given.minutes}"; allowed: a number above 0, up to 1440`);
  const seed = Number(given.seed ?? Date.now() | 0);
  if (seed !== (seed | 0)) fail(`--seed is "${given.seed}"; allowed: an integer from -2147483648 to 2147483647`);
  return { minutes, seed };
}
