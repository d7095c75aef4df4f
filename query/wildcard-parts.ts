/** The literal runs between the stars; stars in a row are one, so that `a**b` is `['a','b']` and `***` is `['','']`. */
export function wildcardParts(pattern: string): readonly string[] {
  return pattern.split(/\*+/);
}
