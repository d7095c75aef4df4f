import type { JsonSchema, OperationDeadlines } from './operation.ts';
import { INT32, type Properties, queryOf } from './schemas/object-schema.ts';

/** Bodies of a few fields. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Lists of thousands of records, and specifications of 2 MB written as a JSON string. */
export const LARGE_BODY_BYTES = 8 * 1024 * 1024;

export const JSON_BODY: readonly string[] = ['application/json'];
export const ANY_JSON_BODY: readonly string[] = ['application/json', 'text/json', 'application/*+json'];

export const DEADLINES: OperationDeadlines = { headersMs: 15_000, bodyMs: 15_000 };

export const NO_QUERY: JsonSchema = queryOf({});

/** The placeholders of a path; all of them are there, or the path would be another. */
export function pathSchema(properties: Properties): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) };
}

export const ZONE_PATH: Properties = { shieldZoneId: INT32 };

/** What an operation without a body has in its place. */
export const WITHOUT_BODY = { body: null, bodyLimitBytes: 0, bodyTypes: [] } as const;
