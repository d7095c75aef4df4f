import { readSpec } from '../../edge/local/api-guardian/read-spec.ts';
import { SpecFault, toJsonTree } from '../../edge/local/api-guardian/spec-tree.ts';
import { answering } from '../edge/local/api-guardian/specification.ts';

const TEXT = { type: 'string' };

/** Returns the answer of the operation if `work` finds a fault of the specification, otherwise `ok`. */
async function verdictOn(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    if (!(error instanceof SpecFault)) throw error;
    return '400 apiGuardian.specification_invalid';
  }
}

const read = (specification: object): Promise<string> => verdictOn(() => readSpec(JSON.stringify(specification)));

function properties(length: number): object {
  return { type: 'object', properties: Object.fromEntries(Array.from({ length }, (_, index) => [`n${index}`, TEXT])) };
}

function nestedSchemas(depth: number): object {
  return depth === 1 ? TEXT : { type: 'array', items: nestedSchemas(depth - 1) };
}

function nestedLists(depth: number): readonly unknown[] {
  return depth === 1 ? [] : [nestedLists(depth - 1)];
}

/** Each function returns the outcome of a specification with so many parts of a kind. */
export const specificationWith = {
  endpoints(length: number): Promise<string> {
    const paths = Array.from({ length }, (_, index) => [`/p${index}`, { get: { responses: { 204: { description: '' } } } }]);
    return read({ ...answering(TEXT), paths: Object.fromEntries(paths) });
  },
  properties: (length: number): Promise<string> => read(answering(properties(length))),
  nestedSchemas: (depth: number): Promise<string> => read(answering(nestedSchemas(depth))),
  /** The outermost included, in groups that are small enough for the other limits. */
  schemas(amount: number): Promise<string> {
    const groups = Array.from({ length: Math.ceil((amount - 1) / 129) }, (_, index) => Math.min(128, amount - 2 - index * 129));
    return read(answering({ oneOf: groups.map(properties) }));
  },
  patterns(length: number): Promise<string> {
    const pattern = (character: string, times: number) => ({ type: 'string', pattern: character.repeat(times) });
    return read(answering({ type: 'object', properties: { a: pattern('a', 1_000), b: pattern('b', length - 1_000) } }));
  },
  references(length: number): Promise<string> {
    const chain = Array.from({ length }, (_, index) => [`C${index}`, { $ref: `#/components/schemas/C${index + 1}` }]);
    return read(answering(TEXT, { ...Object.fromEntries(chain), [`C${length}`]: TEXT }));
  },
  /** The list that they are in is one of them. */
  values: (amount: number): Promise<string> => verdictOn(() => toJsonTree(Array.from({ length: amount - 1 }, () => 1))),
  nestedValues: (depth: number): Promise<string> => verdictOn(() => toJsonTree(nestedLists(depth))),
} as const;
