/** One path's methods of the document. */
export type PathItem = Readonly<Record<string, object>>;

/** What a file of the description holds: one group of operations and the schemas it names. */
export interface DescribedGroup {
  /** Absent: its operations stand under the tag of another group. */
  readonly tag?: { readonly name: string; readonly description: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  /** By name; what `ref` refers to. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** A schema of the document's components, by its name. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** An example by its name: what it is, and its value. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** The same schema and examples for each of the content types. */
export const content = (types: readonly string[], schema: object, examples?: Examples) =>
  Object.fromEntries(types.map((type) => [type, { schema, ...(examples === undefined ? {} : { examples }) }]));

/** An answer with a body of the schema of that name. */
export const answer = (description: string, name: string, examples: Examples, types: readonly string[] = ['application/json']) => ({
  description,
  content: content(types, ref(name), examples),
});

/** A whole number in the path or the query; one in the query may be left out. */
export const integerIn = (place: 'path' | 'query', name: string, schema: object, description: string, example?: number) => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: { type: 'integer', ...schema },
  ...(example === undefined ? {} : { example }),
});

/** For operations that need no key, however the program is set up. */
export const OPEN = { security: [] };
