import { PIPELINE_EXAMPLE } from './examples/pipeline-example.ts';
import type { Operation } from './operation.ts';
import { JSON_BODY, LARGE_BODY_BYTES, NO_QUERY, pathSchema } from './operation-defaults.ts';
import { CONTAINER_OPERATIONS } from './operations-containers.ts';
import { PLATFORM_OPERATIONS } from './operations-platform.ts';
import { SHIELD_OPERATIONS } from './operations-shield.ts';
import { BODY_REFUSALS, errorResponses } from './schemas/error-schemas.ts';
import { PIPELINE, PIPELINE_INPUT } from './schemas/pipeline.ts';

const PIPELINE_OPERATION: Operation = {
  id: 14,
  name: 'databasePipeline',
  summary: 'Run SQL statements on the database (Hrana 2 over HTTP)',
  method: 'POST',
  path: '/v2/pipeline',
  upstream: 'database',
  key: 'bearer',
  errorShape: 'pipeline',
  params: pathSchema({}),
  query: NO_QUERY,
  body: PIPELINE_INPUT,
  bodyLimitBytes: LARGE_BODY_BYTES,
  bodyTypes: JSON_BODY,
  responses: { 200: PIPELINE, ...errorResponses('pipeline', BODY_REFUSALS) },
  idempotent: false,
  deadlines: { headersMs: 45_000, bodyMs: 30_000 },
  example: PIPELINE_EXAMPLE,
};

/** Operations 2 to 14, in that order. Proxies, local control plane and the interface's description are made from this table. */
export const OPERATIONS: readonly Operation[] = [
  ...PLATFORM_OPERATIONS,
  ...SHIELD_OPERATIONS,
  ...CONTAINER_OPERATIONS,
  PIPELINE_OPERATION,
].toSorted((one, other) => one.id - other.id);

/** The operation with this number. Throws where there is none: numbers come from code. */
export function operation(id: number): Operation {
  const found = OPERATIONS.find((row) => row.id === id);
  if (found === undefined) throw new Error(`There is no operation ${id}; there are ${OPERATIONS.map((row) => row.id).join(', ')}`);
  return found;
}
