import { ERROR_SHAPES } from '../error-shapes.ts';
import { CONTAINERS } from './containers.ts';
import { DATABASE } from './database.ts';
import { DNS_ZONES } from './dns-zones.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Operation, OperationGroup } from './operation.ts';
import { PULL_ZONES } from './pull-zones.ts';
import { SCRIPTS } from './scripts.ts';
import { SHIELD_ZONES } from './shield-zones.ts';

/** All groups, in the order of the interface's description. */
export const OPERATION_GROUPS: readonly OperationGroup[] = [SHIELD_ZONES, SCRIPTS, DNS_ZONES, PULL_ZONES, CONTAINERS, DATABASE];

/** All operations beside the search, by their numbers. */
export const OPERATIONS: readonly Operation[] = OPERATION_GROUPS.flatMap(({ operations }) => operations).toSorted(
  (one, other) => one.number - other.number,
);

/** The calls that clients make beside the operations. */
export const COMPANIONS: readonly Operation[] = OPERATION_GROUPS.flatMap(({ companions = [] }) => companions);

/** The numbers of the operations that may have an upstream of their own. */
export const MANAGEMENT_NUMBERS: readonly number[] = OPERATIONS.filter(({ upstream }) => upstream === 'management').map(
  ({ number }) => number,
);

/** The schemas of requests, answers and errors by their names in the interface's description. */
export const NAMED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ...Object.assign({}, ...OPERATION_GROUPS.map(({ schemas }) => schemas)),
  ...Object.fromEntries(Object.values(ERROR_SHAPES).map(({ name, schema }) => [name, schema])),
};

/** The operation with this number. Throws where there is none. */
export function operation(number: number): Operation {
  const found = OPERATIONS.find((row) => row.number === number);
  if (found === undefined) throw new Error(`There is no operation ${number}; there are ${rangesText(OPERATIONS.map((row) => row.number))}`);
  return found;
}

/** Ascending numbers for people, with three or more in a row as a range: `3, 5, 12 to 14`. */
export function rangesText(numbers: readonly number[], joiner = ' to '): string {
  const runs: number[][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run?.at(-1) === number - 1) run.push(number);
    else runs.push([number]);
  }
  return runs.flatMap((run) => (run.length < 3 ? run.map(String) : [`${run[0]}${joiner}${run.at(-1)}`])).join(', ');
}
