import type { JsonSchema } from '../operation.ts';
import { exactly, NULLABLE_TEXT, YES_OR_NO } from './object-schema.ts';

/** What the shield operations answer with: how it went, and the data. */
export function shieldEnvelope(data: JsonSchema): JsonSchema {
  return exactly({ error: exactly({ success: YES_OR_NO, message: NULLABLE_TEXT, errorKey: NULLABLE_TEXT }), data });
}
