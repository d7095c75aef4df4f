import leven from 'leven';
import { CONFIG_VARIABLES, flagsOf, variablesOf } from './config-table.ts';
import type { Texts } from './setting-text.ts';

/** Returns the candidate with the smallest Levenshtein distance to `name`; null where none is within its `editsAllowed`. */
export function nearestName(name: string, candidates: readonly string[], editsAllowed: (candidate: string) => number): string | null {
  const near = candidates
    .map((candidate) => ({ candidate, edits: leven(name, candidate) }))
    .filter(({ candidate, edits }) => edits <= editsAllowed(candidate))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.candidate ?? null;
}

/** Shorter names are only recognized in another case, because variables of other programs, such as PORTS, are near to them. */
const SHORTEST = 8;
const MAX_EDITS = 3;

const editsAllowed = (name: string): number => (name.length < SHORTEST ? 0 : Math.min(MAX_EDITS, Math.floor((name.length - 1) / 4)));

/**
 * A line for each environment variable whose name is nearly that of an unset setting, such as KAFKA_BROKER. It may belong to another
 * program, so it is only worth a warning. Values are not shown.
 */
export function misspelledSettings(env: Texts, flags: Texts = {}): readonly string[] {
  const names = CONFIG_VARIABLES.flatMap(variablesOf);
  const isUnset = (setting: (typeof CONFIG_VARIABLES)[number]): boolean =>
    variablesOf(setting).every((name) => (env[name] ?? '') === '') && flagsOf(setting).every((flag) => flags[flag] === undefined);
  const unset = CONFIG_VARIABLES.filter(isUnset).flatMap(variablesOf);
  return Object.keys(env).flatMap((given) => {
    if (names.includes(given) || (env[given] ?? '') === '') return [];
    const meant = nearestName(given.toUpperCase(), unset, editsAllowed);
    return meant === null ? [] : [`${given} is not a setting and is not read; did you mean ${meant}?`];
  });
}
