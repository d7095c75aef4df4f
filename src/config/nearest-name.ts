import leven from 'leven';

/** Returns the candidate with the smallest Levenshtein distance to `name`, or null where none is within its `editsAllowed`. */
export function nearestName(name: string, candidates: readonly string[], editsAllowed: (candidate: string) => number): string | null {
  const near = candidates
    .map((candidate) => ({ candidate, edits: leven(name, candidate) }))
    .filter(({ candidate, edits }) => edits <= editsAllowed(candidate))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.candidate ?? null;
}
