import { shown } from '../../../shown-value.ts';
import type { SqlValue } from '../sql-value.ts';
import { StatementError } from '../statement-error.ts';
import type { StatementPlan } from '../stream-plan.ts';
import { sqlParameters } from './sql-parameters.ts';

/** As node:sqlite takes them: named ones by their whole name, the others by position, numbers without a use included. */
export interface BoundArguments {
  readonly named: Readonly<Record<string, SqlValue>>;
  readonly positional: readonly SqlValue[];
}

type Names = readonly (string | null)[];

const isNamed = (name: string | null): name is string => name !== null && !name.startsWith('?');

function parametersOf(names: Names): string {
  return names.length === 0 ? 'the statement has no parameters' : `the statement has ${names.map((name) => name ?? '?').join(', ')}`;
}

function byPosition(names: Names, args: readonly SqlValue[]): readonly SqlValue[] {
  if (args.length === names.length) return args;
  throw new StatementError('ARGS_INVALID', `${args.length} arguments are given; ${parametersOf(names)}`);
}

function byName(names: Names, given: StatementPlan['namedArgs']): readonly SqlValue[] {
  const values: (SqlValue | undefined)[] = names.map(() => undefined);
  for (const { name, value } of given) {
    const found = names.flatMap((own, index) => (own !== null && (own === name || own.slice(1) === name) ? [index] : []));
    if (found.length === 0) throw new StatementError('ARGS_INVALID', `no parameter is named ${shown(name)}; ${parametersOf(names)}`);
    for (const index of found) values[index] = value;
  }
  return values.map((value, index) => {
    // A number that only a higher `?7` makes exist is nobody's.
    if (value === undefined) throw new StatementError('ARGS_INVALID', `parameter ${names[index] ?? index + 1} has no argument`);
    return value;
  });
}

/** The arguments for the parameters of `sql`, every one of which must be given. Throws StatementError `ARGS_…`. */
export function bindArguments(sql: string, { args, namedArgs }: Pick<StatementPlan, 'args' | 'namedArgs'>): BoundArguments {
  if (args.length > 0 && namedArgs.length > 0) {
    throw new StatementError('ARGS_BOTH_POSITIONAL_AND_NAMED', 'a statement takes either args or named_args, not both');
  }
  const names = sqlParameters(sql);
  const values = namedArgs.length > 0 ? byName(names, namedArgs) : byPosition(names, args);
  return {
    named: Object.fromEntries(names.flatMap((name, index) => (isNamed(name) ? [[name, values[index] ?? null]] : []))),
    positional: values.filter((_value, index) => !isNamed(names[index] ?? null)),
  };
}
