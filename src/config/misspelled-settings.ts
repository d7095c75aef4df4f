import { CONFIG_VARIABLES, flagsOf, variablesOf } from './config-table.ts';
import { nearestName } from './nearest-name.ts';
import type { Texts } from './setting-text.ts';

/** Variables of other programs, such as PORTS, are near to shorter names: those are only recognized in another case. */
const SHORTEST = 8;
const MAX_EDITS = 3;

const editsAllowed = (name: string): number => (name.length < SHORTEST ? 0 : Math.min(MAX_EDITS, Math.floor((name.length - 1) / 4)));

/**
 * One line for each environment variable that has nearly the name of a setting which is not set, such as KAFKA_BROKER. It may belong to
 * another program, so that it is worth a warning and no more. Values are not shown.
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
