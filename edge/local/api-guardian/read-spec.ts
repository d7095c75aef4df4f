import { shown } from '../../shown-value.ts';
import { type AuthScheme, authSchemes } from './auth-schemes.ts';
import { endpointParameters, type ParameterNames } from './endpoint-parameters.ts';
import { GUARDIAN_LIMITS } from './guardian-limits.ts';
import { isJsonObject, type JsonObject, member, objectMember } from './json-tree.ts';
import { type SchemaWriter, schemaWriter } from './schema-writer.ts';
import { faultAt, memberOf } from './spec-fault.ts';
import { follow, type Located } from './spec-reference.ts';
import { checkReferences } from './spec-references.ts';
import { checkStructure, requireOpenApi30 } from './spec-structure.ts';
import { parseSpecText } from './spec-text.ts';

/** An operation of a specification. */
export interface SpecEndpoint {
  /** Upper case. */
  readonly method: string;
  /** As written, with its placeholders. */
  readonly path: string;
  readonly authSchemes: readonly AuthScheme[];
  /** Empty where the request has no body with a schema. */
  readonly requestBodySchemaYaml: string;
  /** By status, `default` included; responses without a schema are left out. */
  readonly responseBodySchemasYaml: Readonly<Record<string, string>>;
  readonly availableParameters: ParameterNames;
}

export interface ReadSpec {
  readonly title: string;
  readonly version: string;
  /** In the order of the specification. */
  readonly endpoints: readonly SpecEndpoint[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

const isJson = (type: string): boolean => /^[^;]*[/+]json\s*(?:;|$)/i.test(type);

/** The schema of the one content that is enforced: JSON where there is any, else the first that has a schema. */
function bodySchema({ value, pointer }: Located): Located | undefined {
  const withSchema = Object.entries(objectMember(value, 'content')).filter(([, media]) => member(media, 'schema') !== undefined);
  const [type, media] = withSchema.find(([name]) => isJson(name)) ?? withSchema[0] ?? [];
  const schema = member(media, 'schema');
  if (type === undefined || schema === undefined) return undefined;
  return { value: schema, pointer: memberOf(memberOf(memberOf(pointer, 'content'), type), 'schema') };
}

function writeBody(root: JsonObject, body: Located, writer: SchemaWriter): string {
  const schema = bodySchema(follow(root, body));
  return schema === undefined ? '' : writer.write(schema);
}

function writeResponses(root: JsonObject, { value, pointer }: Located, writer: SchemaWriter): Readonly<Record<string, string>> {
  const responses = Object.entries(objectMember(value, 'responses')).filter(([status]) => !status.startsWith('x-'));
  const written = responses.map(([status, response]) => {
    const place = memberOf(memberOf(pointer, 'responses'), status);
    return [status, writeBody(root, { value: response, pointer: place }, writer)] as const;
  });
  return Object.fromEntries(written.filter(([, yaml]) => yaml !== ''));
}

interface SpecOperation {
  readonly method: string;
  readonly path: string;
  readonly item: Located;
  readonly operation: Located;
}

/** Every operation of every path. Throws SpecFault where there are too many, or two paths match the same requests. */
function listOperations(root: JsonObject): readonly SpecOperation[] {
  const operations: SpecOperation[] = [];
  const shapes = new Map<string, string>();
  for (const [path, written] of Object.entries(objectMember(root, 'paths'))) {
    if (path.startsWith('x-')) continue;
    const pointer = memberOf('/paths', path);
    const shape = path.replaceAll(/\{[^{}]*\}/g, '{}');
    const same = shapes.get(shape);
    if (same !== undefined) throw faultAt(pointer, `it matches the same requests as ${shown(same)}; allowed: one path for them`);
    shapes.set(shape, path);
    const item = follow(root, { value: written, pointer });
    for (const method of METHODS) {
      const operation = member(item.value, method);
      if (isJsonObject(operation))
        operations.push({ method, path, item, operation: { value: operation, pointer: memberOf(item.pointer, method) } });
    }
  }
  const { maxEndpoints } = GUARDIAN_LIMITS;
  if (operations.length > maxEndpoints)
    throw faultAt('/paths', `there are ${operations.length} endpoints; allowed: at most ${maxEndpoints} (maxEndpoints)`);
  return operations;
}

function readEndpoint(root: JsonObject, { method, path, item, operation }: SpecOperation, writer: SchemaWriter): SpecEndpoint {
  const { value, pointer } = operation;
  const requestBody = member(value, 'requestBody') ?? null;
  return {
    method: method.toUpperCase(),
    path,
    authSchemes: authSchemes(root, value as JsonObject, pointer),
    availableParameters: endpointParameters(root, item, operation, writer),
    requestBodySchemaYaml: writeBody(root, { value: requestBody, pointer: memberOf(pointer, 'requestBody') }, writer),
    responseBodySchemasYaml: writeResponses(root, operation, writer),
  };
}

/**
 * Reads the text of an OpenAPI 3.0 specification, JSON or YAML. Throws SpecFault, with the places, for one that is not valid, refers to
 * anything outside of itself, or is past a limit. May take seconds and much memory for what was written to do so: see `spec-reader.ts`.
 */
export async function readSpec(text: string): Promise<ReadSpec> {
  const root = parseSpecText(text);
  requireOpenApi30(root);
  await checkStructure(checkReferences(root));
  const writer = schemaWriter(root);
  const endpoints = listOperations(root).map((operation) => readEndpoint(root, operation, writer));
  // Schemas that no endpoint uses are held to the limits too.
  const place = '/components/schemas';
  for (const [name, value] of Object.entries(objectMember(objectMember(root, 'components'), 'schemas'))) {
    writer.countOnce({ value, pointer: memberOf(place, name) });
  }
  const { title, version } = objectMember(root, 'info');
  return { title: String(title), version: String(version), endpoints };
}
