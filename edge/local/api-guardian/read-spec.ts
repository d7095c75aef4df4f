import { cut, shown } from '../../shown-value.ts';
import { type SchemaWriter, schemaWriter } from './schema-writer.ts';
import { checkReferences } from './spec-references.ts';
import { parseSpecText } from './spec-text.ts';
import {
  chainFrom,
  follow,
  GUARDIAN_LIMITS,
  isJsonObject,
  type JsonTree,
  type Located,
  listMember,
  member,
  memberOf,
  objectMember,
  type SpecObject,
  specFaultAt,
} from './spec-tree.ts';
import { checkStructure, readVersion } from './spec-version.ts';

/** How callers of an endpoint authenticate. */
interface AuthScheme {
  readonly schemeName: string;
  /** The header, query parameter or cookie that carries it; empty for a certificate of the client. */
  readonly credentialName: string;
  /** `bearer`, `basic`, …; empty where the credential is not in `Authorization`. */
  readonly httpScheme: string;
}

const SCHEMES = '/components/securitySchemes';

function text(value: JsonTree | undefined): string {
  return typeof value === 'string' ? value : '';
}

function readScheme(root: SpecObject, schemeName: string): AuthScheme {
  const written = member(objectMember(objectMember(root, 'components'), 'securitySchemes'), schemeName) ?? null;
  const { value } = follow(root, { value: written, pointer: memberOf(SCHEMES, schemeName) });
  switch (member(value, 'type')) {
    case 'apiKey':
      return { schemeName, credentialName: text(member(value, 'name')), httpScheme: '' };
    case 'http':
      return { schemeName, credentialName: 'Authorization', httpScheme: text(member(value, 'scheme')).toLowerCase() };
    case 'mutualTLS':
      return { schemeName, credentialName: '', httpScheme: '' };
    default:
      // OAuth 2 and OpenID Connect use bearer tokens.
      return { schemeName, credentialName: 'Authorization', httpScheme: 'bearer' };
  }
}

/**
 * All schemes of the operation at `pointer`, alone or together with others: its own `security`, or that of the specification. Throws
 * SpecFault for a scheme that is not declared.
 */
function authSchemes(root: SpecObject, operation: SpecObject, pointer: string): readonly AuthScheme[] {
  const isOwn = member(operation, 'security') !== undefined;
  const security = isOwn ? `${pointer}/security` : '/security';
  const declared = objectMember(objectMember(root, 'components'), 'securitySchemes');
  const names = new Set<string>();
  for (const [index, requirement] of listMember(isOwn ? operation : root, 'security').entries()) {
    for (const name of isJsonObject(requirement) ? Object.keys(requirement) : []) {
      if (!Object.hasOwn(declared, name)) {
        const names = cut(Object.keys(declared).slice(0, 20).join(', '), 500);
        throw specFaultAt(
          memberOf(memberOf(security, index), name),
          `${shown(name)} is not declared in #${SCHEMES}; allowed: ${names === '' ? 'nothing, as none is' : names}`,
        );
      }
      names.add(name);
    }
  }
  return [...names].map((name) => readScheme(root, name));
}

/** An operation and the item of its path. */
interface SpecOperation {
  readonly method: string;
  readonly path: string;
  /** The targets of its `$ref` first, if it has one: what stands beside it counts before them. */
  readonly items: readonly Located[];
  readonly operation: Located;
}

/** The names of parameters by their location. */
interface ParameterNames {
  readonly Path: readonly string[];
  readonly Query: readonly string[];
  readonly Header: readonly string[];
  readonly Cookie: readonly string[];
}

/** OpenAPI ignores header parameters of these names. */
const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization']);

function located(root: SpecObject, owner: Located): readonly Located[] {
  const pointer = memberOf(owner.pointer, 'parameters');
  return listMember(owner.value, 'parameters').map((value, index) => follow(root, { value, pointer: memberOf(pointer, index) }));
}

function countSchemas({ value, pointer }: Located, writer: SchemaWriter): void {
  const schema = member(value, 'schema');
  if (schema !== undefined) writer.write({ value: schema, pointer: memberOf(pointer, 'schema') });
  for (const [type, media] of Object.entries(objectMember(value, 'content'))) {
    const inner = member(media, 'schema');
    if (inner !== undefined) writer.write({ value: inner, pointer: memberOf(memberOf(memberOf(pointer, 'content'), type), 'schema') });
  }
}

/** The names in the template of a path. What is declared of them may differ. */
function templateNames(path: string): readonly string[] {
  return [...new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name))];
}

/** Tells parameters apart: names of headers ignore case. */
function parameterKey(parameter: JsonTree): string {
  const place = text(member(parameter, 'in'));
  const name = text(member(parameter, 'name'));
  return `${place} ${place === 'header' ? name.toLowerCase() : name}`;
}

/** The parameters of an operation: its own and those of its path. Its own replace those of the same name and location. */
function endpointParameters(root: SpecObject, { path, items, operation }: SpecOperation, writer: SchemaWriter): ParameterNames {
  const byKey = new Map<string, Located>();
  const all = [...items, operation].flatMap((owner) => located(root, owner));
  for (const parameter of all) byKey.set(parameterKey(parameter.value), parameter);
  for (const parameter of byKey.values()) countSchemas(parameter, writer);
  const named = (location: string): string[] =>
    [...byKey.values()].filter(({ value }) => member(value, 'in') === location).map(({ value }) => text(member(value, 'name')));
  return {
    Path: templateNames(path),
    Query: named('query'),
    Header: named('header').filter((name) => !IGNORED_HEADERS.has(name.toLowerCase())),
    Cookie: named('cookie'),
  };
}

/** An operation of a specification. */
export interface SpecEndpoint {
  /** Upper case. */
  readonly method: string;
  /** The path as the specification has it, with its placeholders. */
  readonly path: string;
  readonly authSchemes: readonly AuthScheme[];
  /** Empty where the request has no body with a schema. */
  readonly requestBodySchemaYaml: string;
  /** By status, including `default`. Responses without a schema are left out. */
  readonly responseBodySchemasYaml: Readonly<Record<string, string>>;
  readonly availableParameters: ParameterNames;
}

export interface ReadSpec {
  readonly title: string;
  readonly version: string;
  /** In the order of the specification. */
  readonly endpoints: readonly SpecEndpoint[];
  /** What of it is not used, each with its place and the reason. */
  readonly notes: readonly string[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

const isJson = (type: string): boolean => /^[^;]*[/+]json\s*(?:;|$)/i.test(type);

/** The schema that is enforced: that of JSON, or else the first one. */
function bodySchema({ value, pointer }: Located): Located | undefined {
  const withSchema = Object.entries(objectMember(value, 'content')).filter(([, media]) => member(media, 'schema') !== undefined);
  const [type, media] = withSchema.find(([name]) => isJson(name)) ?? withSchema[0] ?? [];
  const schema = member(media, 'schema');
  if (type === undefined || schema === undefined) return undefined;
  return { value: schema, pointer: memberOf(memberOf(memberOf(pointer, 'content'), type), 'schema') };
}

function writeBody(root: SpecObject, body: Located, writer: SchemaWriter): string {
  const schema = bodySchema(follow(root, body));
  return schema === undefined ? '' : writer.write(schema);
}

function writeResponses(root: SpecObject, { value, pointer }: Located, writer: SchemaWriter): Readonly<Record<string, string>> {
  const responses = Object.entries(objectMember(value, 'responses')).filter(([status]) => !status.startsWith('x-'));
  const written = responses.map(([status, response]) => {
    const responsePointer = memberOf(memberOf(pointer, 'responses'), status);
    return [status, writeBody(root, { value: response, pointer: responsePointer }, writer)] as const;
  });
  return Object.fromEntries(written.filter(([, yaml]) => yaml !== ''));
}

/** All operations of all paths. Throws SpecFault where there are too many, and where two paths match the same requests. */
function listOperations(root: SpecObject): readonly SpecOperation[] {
  const operations: SpecOperation[] = [];
  const shapes = new Map<string, string>();
  for (const [path, written] of Object.entries(objectMember(root, 'paths'))) {
    if (path.startsWith('x-')) continue;
    const pointer = memberOf('/paths', path);
    const shape = path.replaceAll(/\{[^{}]*\}/g, '{}');
    const same = shapes.get(shape);
    if (same !== undefined) throw specFaultAt(pointer, `it matches the same requests as ${shown(same)}; allowed: one path for them`);
    shapes.set(shape, path);
    const items = chainFrom(root, { value: written, pointer }).toReversed();
    for (const method of METHODS) {
      const item = items.findLast(({ value }) => isJsonObject(member(value, method)));
      if (item === undefined) continue;
      const operation = { value: objectMember(item.value, method), pointer: memberOf(item.pointer, method) };
      operations.push({ method, path, items, operation });
    }
  }
  const { maxEndpoints } = GUARDIAN_LIMITS;
  if (operations.length > maxEndpoints)
    throw specFaultAt('/paths', `there are ${operations.length} endpoints; allowed: at most ${maxEndpoints} (maxEndpoints)`);
  return operations;
}

function readEndpoint(root: SpecObject, spec: SpecOperation, writer: SchemaWriter): SpecEndpoint {
  const { method, path, operation } = spec;
  const { value, pointer } = operation;
  const requestBody = member(value, 'requestBody') ?? null;
  return {
    method: method.toUpperCase(),
    path,
    authSchemes: authSchemes(root, value as SpecObject, pointer),
    availableParameters: endpointParameters(root, spec, writer),
    requestBodySchemaYaml: writeBody(root, { value: requestBody, pointer: memberOf(pointer, 'requestBody') }, writer),
    responseBodySchemasYaml: writeResponses(root, operation, writer),
  };
}

/**
 * Reads an OpenAPI 3.0 or 3.1 specification in JSON or YAML. Throws SpecFault with the pointers of all faults where it is not valid, refers
 * to anything outside, or exceeds a limit. A hostile text may take seconds and much memory: see `spec-thread.ts`.
 */
export async function readSpec(text: string): Promise<ReadSpec> {
  const root = parseSpecText(text);
  const version = readVersion(root);
  const { copy, notes } = checkReferences(root, version);
  await checkStructure(root, version, copy);
  const writer = schemaWriter(root, version);
  const endpoints = listOperations(root).map((operation) => readEndpoint(root, operation, writer));
  // Schemas that no endpoint uses are held to the limits too.
  const schemas = Object.entries(objectMember(objectMember(root, 'components'), 'schemas'));
  writer.countRest(schemas.map(([name, value]) => ({ value, pointer: memberOf('/components/schemas', name) })));
  const { title, version: ofApi } = objectMember(root, 'info');
  return { title: String(title), version: String(ofApi), endpoints, notes };
}
