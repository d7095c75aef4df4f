import { SHIELD_EXAMPLES } from './examples/shield-examples.ts';
import type { Operation } from './operation.ts';
import {
  ANY_JSON_BODY,
  DEADLINES,
  LARGE_BODY_BYTES,
  NO_QUERY,
  pathSchema,
  SMALL_BODY_BYTES,
  WITHOUT_BODY,
  ZONE_PATH,
} from './operation-defaults.ts';
import { ACCESS_LIST } from './schemas/access-list.ts';
import { API_GUARDIAN, API_GUARDIAN_INPUT } from './schemas/api-guardian.ts';
import { API_GUARDIAN_METRICS } from './schemas/api-guardian-metrics.ts';
import { BOT_ACTION_INPUT, BOT_CATEGORIZATION } from './schemas/bot-categorization.ts';
import { BODY_REFUSALS, errorResponses } from './schemas/error-schemas.ts';
import { ID } from './schemas/object-schema.ts';

const SHIELD = { upstream: 'management', key: 'access-and-zone', query: NO_QUERY, deadlines: DEADLINES } as const;

/** Shield zones: API Guardian, bots, access lists. */
export const SHIELD_OPERATIONS: readonly Operation[] = [
  {
    ...SHIELD,
    id: 3,
    name: 'updateApiGuardianSpec',
    summary: 'Upload or update the OpenAPI specification that API Guardian enforces for a shield zone',
    method: 'PATCH',
    path: '/shield/shield-zone/:shieldZoneId/api-guardian/spec',
    errorShape: 'problem',
    params: pathSchema(ZONE_PATH),
    body: API_GUARDIAN_INPUT,
    bodyLimitBytes: LARGE_BODY_BYTES,
    bodyTypes: ANY_JSON_BODY,
    // One specification is read at a time, for 8 s at most; four may wait before it.
    deadlines: { headersMs: 45_000, bodyMs: 15_000 },
    responses: { 200: API_GUARDIAN, ...errorResponses('problem', BODY_REFUSALS) },
    idempotent: true,
    example: SHIELD_EXAMPLES.updateApiGuardianSpec,
  },
  {
    ...SHIELD,
    id: 5,
    name: 'setBotAction',
    summary: 'Set or clear the action applied to a categorised bot for a shield zone',
    method: 'PUT',
    path: '/shield/shield-zone/:shieldZoneId/bot-categorization/bots/:botId',
    errorShape: 'problem',
    params: pathSchema({ ...ZONE_PATH, botId: ID }),
    body: BOT_ACTION_INPUT,
    bodyLimitBytes: SMALL_BODY_BYTES,
    bodyTypes: ANY_JSON_BODY,
    responses: { 200: BOT_CATEGORIZATION, ...errorResponses('problem', [404, ...BODY_REFUSALS]) },
    idempotent: true,
    example: SHIELD_EXAMPLES.setBotAction,
  },
  {
    ...SHIELD,
    ...WITHOUT_BODY,
    id: 12,
    name: 'getAccessList',
    summary: 'Read a custom access list of a shield zone',
    method: 'GET',
    path: '/shield/shield-zone/:shieldZoneId/access-lists/:id',
    errorShape: 'problem',
    params: pathSchema({ ...ZONE_PATH, id: ID }),
    responses: { 200: ACCESS_LIST, ...errorResponses('problem', [404]) },
    idempotent: true,
    example: SHIELD_EXAMPLES.getAccessList,
  },
  {
    ...SHIELD,
    ...WITHOUT_BODY,
    id: 13,
    name: 'getApiGuardianMetrics',
    summary: 'Read the API Guardian metrics of a shield zone',
    method: 'GET',
    path: '/shield/metrics/shield-zone/:shieldZoneId/api-guardian',
    errorShape: 'status',
    params: pathSchema(ZONE_PATH),
    responses: { 200: API_GUARDIAN_METRICS, ...errorResponses('status') },
    idempotent: true,
    example: SHIELD_EXAMPLES.getApiGuardianMetrics,
  },
];
