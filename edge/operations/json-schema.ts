/** A JSON schema (draft 2020-12, within what draft-07 validators understand too). */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Properties = Readonly<Record<string, JsonSchema>>;

/** An object with exactly these properties. All are required but the `optional` ones. */
export function exactly<P extends Properties>(properties: P, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The body of a request. These properties are checked; others are passed on to the upstream. */
export function input(properties: Properties, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required };
}

/** Query parameters. Others are passed over (`knownQuery`). */
export function queryOf(properties: Properties, required: readonly string[] = []): JsonSchema {
  return { type: 'object', properties, required };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** An object with any names and values of one schema. */
export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

/**
 * What has the schema, or null. A second type says so where the schema stands here, because generators of clients trip over a schema of
 * null alone beside one that has no name.
 */
export function nullable<S extends JsonSchema>(schema: S) {
  return '$ref' in schema ? { anyOf: [schema, { type: 'null' }] } : { ...schema, type: [schema['type'], 'null'] };
}

/** Names of numbers for a description: `0 None, 1 Block`. */
export function namesOf(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([name, number]) => `${number} ${name}`)
    .join(', ');
}

/** One of some numbers that have names. */
export function numbered(numbers: Readonly<Record<string, number>>): JsonSchema {
  return { type: 'integer', enum: Object.values(numbers), description: namesOf(numbers) };
}

export const TEXT: JsonSchema = { type: 'string' };
export const NULLABLE_TEXT: JsonSchema = { type: ['string', 'null'] };
export const YES_OR_NO: JsonSchema = { type: 'boolean' };
export const NUMBER: JsonSchema = { type: 'number' };
export const COUNT: JsonSchema = { type: 'integer', minimum: 0 };
/** An ISO 8601 UTC time. */
export const TIME: JsonSchema = { type: 'string', format: 'date-time' };
export const INT32_SCHEMA: JsonSchema = { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 };
/** An identifier that the platform gives out. */
export const ID: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

/** The answer of the shield operations: the outcome and the data. */
export function shieldEnvelope(data: JsonSchema): JsonSchema {
  return exactly({ error: exactly({ success: YES_OR_NO, message: NULLABLE_TEXT, errorKey: NULLABLE_TEXT }), data });
}
