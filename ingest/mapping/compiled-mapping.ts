import type { Items, MappedField, Mapping } from './mapping.ts';
import type { ParsedRecord } from './parsed-record.ts';
import { type PathFinder, pathFinder } from './record-path.ts';
import { type TextIn, ValueCompiler } from './value-compiler.ts';

/** Items of a mapping, with what finds them in a record, and whether it is an envelope of these. */
export interface CompiledItems extends Items {
  readonly find: PathFinder;
  readonly holds: (record: ParsedRecord) => boolean;
}

/** What a mapping says, as functions of a record. */
export interface CompiledMapping {
  readonly items: readonly CompiledItems[];
  readonly leaveOut: TextIn | null;
  readonly timestamp: TextIn;
  /** `lookedUp` is what a record's zone was looked up by where it has none. */
  readonly zone: { readonly textIn: TextIn; readonly lookedUp: TextIn } | null;
  readonly id: readonly TextIn[];
  /** The fields beside the time. */
  readonly fields: readonly (readonly [name: MappedField, textIn: TextIn])[];
}

/** New functions are slow at first: with those of a batch alone, ten records take twice the time. */
const COMPILED = new WeakMap<Mapping, CompiledMapping>();

/** The functions of a mapping, which are made once. */
export function compiledMapping(mapping: Mapping): CompiledMapping {
  const compiled = COMPILED.get(mapping) ?? compile(mapping);
  COMPILED.set(mapping, compiled);
  return compiled;
}

function compile(mapping: Mapping): CompiledMapping {
  const { items, leaveOut, zone, id, fields } = mapping;
  const compiler = new ValueCompiler(mapping);
  const named = [...fields].map(([name, value]) => [name, compiler.textOf(value, name, name === 'asn')] as const);
  return {
    items: items.map((one) => ({ ...one, find: itemFinder(one), holds: compiler.holds(one.when) })),
    leaveOut: leaveOut === null ? null : compiler.textOf(leaveOut, 'leaveOut'),
    timestamp: new Map(named).get('timestamp')!,
    zone: zone === null ? null : { textIn: compiler.textOf(zone, 'zone', true), lookedUp: compiler.lookedUp(zone, 'zone') },
    id: id.map((value) => compiler.textOf(value, 'id')),
    fields: named.filter(([name]) => name !== 'timestamp'),
  };
}

/** Finds what a path of items leads to, which is a list or a text; with `[*]` it may be anything. */
function itemFinder({ path: { steps } }: Items): PathFinder {
  const find = pathFinder(steps, (value) => value === undefined);
  if (steps.some(({ kind }) => kind === 'each')) {
    return find;
  }
  return (record) => {
    const found = find(record);
    return Array.isArray(found) || typeof found === 'string' ? found : undefined;
  };
}
