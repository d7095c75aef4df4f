import type { JsonSchema, KeyKind, Operation } from '../../edge/operation.ts';
import { OPERATIONS } from '../../edge/operations.ts';
import { NAMED_SCHEMAS } from '../../edge/schemas/named-schemas.ts';
import { content, type PathItem, ref } from './openapi-content.ts';
import { errorAnswer } from './openapi-operation-errors.ts';
import { documentedPath } from './openapi-operation-path.ts';

const KEYS: Readonly<Record<KeyKind, { readonly security: object; readonly words: string }>> = {
  access: { security: { AccessKey: [] }, words: 'Needs an access key with the scope manage.' },
  personal: { security: { PersonalAccessKey: [] }, words: 'Needs a personal access key.' },
  'access-and-zone': { security: { AccessKey: [] }, words: 'Needs an access key that opens the shield zone.' },
  bearer: { security: { DatabaseToken: [] }, words: 'A Read Only token may only read.' },
};

const TAGS: Readonly<Record<string, string>> = {
  compute: 'Scripts',
  dnszone: 'DNS zones',
  pullzone: 'Pull zones',
  shield: 'Shield zones',
  mc: 'Containers',
  v2: 'Database',
};

/** What the operations are grouped by. */
export const OPERATION_TAGS = [
  { name: 'Shield zones', description: 'API Guardian, bots and access lists (operations 3, 5, 12, 13)' },
  { name: 'Scripts', description: 'Variables of edge scripts (operation 2)' },
  { name: 'DNS zones', description: 'Zones and their records (operation 4)' },
  { name: 'Pull zones', description: 'Hostnames and their certificates (operations 6 to 8)' },
  { name: 'Containers', description: 'Applications and nodes (operations 9 to 11)' },
  { name: 'Database', description: 'SQL over HTTP (operation 14)' },
];

/** The name of a schema of the table, as a reference; one without a name stands where it is used. */
function refTo(schema: JsonSchema): object {
  const name = Object.entries(NAMED_SCHEMAS).find(([, named]) => named === schema)?.[0];
  return name === undefined ? schema : ref(name);
}

function parametersOf({ params, query, example }: Operation): readonly object[] {
  return (['path', 'query'] as const).flatMap((place) => {
    const { properties = {}, required = [] } = (place === 'path' ? params : query) as {
      readonly properties?: Readonly<Record<string, JsonSchema>>;
      readonly required?: readonly string[];
    };
    const values = place === 'path' ? example.params : example.query;
    return Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: place,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(Object.hasOwn(values, name) ? { example: values[name] } : {}),
    }));
  });
}

function bodyOf({ body, bodyTypes, bodyLimitBytes, example }: Operation): object {
  if (body === null) return {};
  const examples = { example: { summary: 'One that works on a new local control plane', value: example.body } };
  return {
    requestBody: {
      description: `At most ${bodyLimitBytes / 1024} KiB`,
      required: true,
      content: content(bodyTypes, refTo(body), examples),
    },
  };
}

function successOf({ example }: Operation, status: number, schema: JsonSchema | null): object {
  if (schema === null) return { description: 'Done; no body' };
  const examples = status === example.status ? { example: { summary: 'Its answer', value: example.answer } } : undefined;
  return { description: 'Done', content: content(['application/json'], refTo(schema), examples) };
}

function responsesOf(operation: Operation): object {
  return Object.fromEntries(
    Object.entries(operation.responses).map(([text, schema]) => {
      const status = Number(text);
      return [status, status < 400 ? successOf(operation, status, schema) : errorAnswer(operation, status, refTo(schema ?? {}))];
    }),
  );
}

function described(operation: Operation): object {
  const { id, name, summary, path, key } = operation;
  const tag = TAGS[path.split('/')[1] ?? ''];
  if (tag === undefined) throw new Error(`${path} has no tag; there are tags for ${Object.keys(TAGS).join(', ')}`);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: `Operation ${id}. ${KEYS[key].words}`,
    security: [KEYS[key].security],
    parameters: parametersOf(operation),
    ...bodyOf(operation),
    responses: responsesOf(operation),
  };
}

/** Operations 2 to 14, from the table that their proxies are made from. */
export const OPERATION_PATHS: Readonly<Record<string, PathItem>> = Object.fromEntries(
  OPERATIONS.map((operation) => [documentedPath(operation.path), { [operation.method.toLowerCase()]: described(operation) }]),
);
