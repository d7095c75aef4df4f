import leven from 'leven';

/** The candidate that takes the fewest edits (letters wrong, missing or too many) to get to `name`, and at most those it allows; null where there is none. */
export function nearestName(name: string, candidates: readonly string[], editsAllowed: (candidate: string) => number): string | null {
  const near = candidates
    .map((candidate) => ({ candidate, edits: leven(name, candidate) }))
    .filter(({ candidate, edits }) => edits <= editsAllowed(candidate))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.candidate ?? null;
}
