import {
  COUNT,
  exactly,
  ID,
  INT32_SCHEMA,
  input,
  type JsonSchema,
  listOf,
  mapOf,
  namesOf,
  numbered,
  shieldEnvelope,
  TEXT,
  TIME,
  YES_OR_NO,
} from './json-schema.ts';
import { ANY_JSON_BODY, defineOperation, type ErrorExample, LARGE_BODY_BYTES, type OperationGroup, ZONE_PATH } from './operation.ts';

const API_GUARDIAN_INPUT = input(
  {
    content: { ...TEXT, description: 'OpenAPI 3.0 or 3.1 as JSON or YAML, at most 2 MB' },
    enforceAuthorizationValidation: { ...YES_OR_NO, description: 'Left out: each endpoint keeps what it has' },
  },
  ['content'],
);

const PARAMETERS = exactly({ Path: listOf(TEXT), Query: listOf(TEXT), Header: listOf(TEXT), Cookie: listOf(TEXT) });

const CONFIGURATION = exactly({
  shieldZoneId: INT32_SCHEMA,
  isEnabled: YES_OR_NO,
  title: TEXT,
  version: TEXT,
  maxEndpoints: COUNT,
  maxFieldsPerType: COUNT,
  maxNestingDepth: COUNT,
  maxTotalSchemaNodes: COUNT,
  maxTotalRegexLength: COUNT,
  createdAt: TIME,
  updatedAt: TIME,
});

const ENDPOINT = exactly({
  apiGuardianEndpointId: ID,
  shieldZoneId: INT32_SCHEMA,
  requestMethod: TEXT,
  requestPath: TEXT,
  validateRequestBodySchema: YES_OR_NO,
  validateResponseBodySchema: YES_OR_NO,
  validateAuthorization: YES_OR_NO,
  isEnabled: YES_OR_NO,
  authSchemes: listOf(exactly({ schemeName: TEXT, credentialName: TEXT, httpScheme: TEXT })),
  requestBodySchemaYaml: TEXT,
  responseBodySchemasYaml: mapOf(TEXT),
  availableParameters: PARAMETERS,
  injectionDetectionParameters: PARAMETERS,
  detectParameterXss: YES_OR_NO,
  detectParameterSqli: YES_OR_NO,
  rateLimitingEnabled: YES_OR_NO,
  rateLimitingRequestCount: COUNT,
  createdAt: TIME,
  updatedAt: TIME,
});

const API_GUARDIAN = shieldEnvelope(exactly({ configuration: CONFIGURATION, endpoints: listOf(ENDPOINT) }));

/** The counters of a day, by their names there. */
export const GUARDIAN_COUNTERS = [
  'blockedRequests',
  'loggedRequests',
  'rateLimited',
  'requestsInspected',
  'failedRequestValidation',
  'failedAuthenticationEnforcement',
] as const;

export type GuardianCounter = (typeof GUARDIAN_COUNTERS)[number];

/** The name of the sum of all days: `totalBlockedRequests`. */
export function totalName(counter: GuardianCounter): string {
  return `total${counter.charAt(0).toUpperCase()}${counter.slice(1)}`;
}

function countersBy(nameOf: (counter: GuardianCounter) => string): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(GUARDIAN_COUNTERS.map((counter) => [nameOf(counter), COUNT]));
}

const API_GUARDIAN_METRICS = shieldEnvelope(
  exactly({
    ...countersBy(totalName),
    overviewPastTwentyEightDays: {
      type: 'object',
      description: 'From each UTC day, such as 2026-01-31, to its counters',
      propertyNames: { pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
      additionalProperties: exactly(countersBy((counter) => counter)),
    },
  }),
);

/** The actions of a shield zone on a bot. `None` clears the action that was set. */
export const BOT_ACTIONS = { None: 0, Block: 1, Allow: 2, Ignore: 3 } as const;

export const BOT_CATEGORIES = { None: 0, SEO: 1, AIScraper: 2, AITool: 3, Tool: 4, Ads: 5, Preview: 6, Social: 7, System: 255 } as const;

export type BotCategory = (typeof BOT_CATEGORIES)[keyof typeof BOT_CATEGORIES];

const BOT_ACTION_INPUT = input({ action: { ...numbered(BOT_ACTIONS), description: `${namesOf(BOT_ACTIONS)}; None clears it` } }, [
  'action',
]);

const BOT_CATEGORIZATION = shieldEnvelope(
  exactly({
    botId: INT32_SCHEMA,
    userAgentMatch: TEXT,
    isVerifiable: YES_OR_NO,
    category: numbered(BOT_CATEGORIES),
    action: numbered(BOT_ACTIONS),
  }),
);

export const ACCESS_LIST_TYPES = { IP: 0, CIDR: 1, ASN: 2, Country: 3, Organization: 4, JA4: 5 } as const;

const ACCESS_LIST = shieldEnvelope(
  exactly({
    id: ID,
    name: TEXT,
    description: { ...TEXT, description: 'Empty where there is none' },
    type: numbered(ACCESS_LIST_TYPES),
    content: { ...TEXT, description: 'One entry a line' },
    checksum: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the content' },
    entryCount: { ...COUNT, description: 'Lines with something on them' },
    lastModified: TIME,
  }),
);

const SUCCESS = { success: true, message: null, errorKey: null };
const CREATED = '2026-01-01T00:40:01.500Z';

const SPECIFICATION = `openapi: 3.0.3
info: { title: Shop, version: 1.4.0 }
paths:
  /carts/{cartId}:
    get:
      parameters:
        - { name: cartId, in: path, required: true, schema: { type: string } }
      security: [{ session: [] }]
      responses:
        '200':
          description: The cart
          content:
            application/json:
              schema: { type: object, properties: { total: { type: number } } }
components:
  securitySchemes:
    session: { type: apiKey, in: header, name: X-Session }
`;

const CONFIGURATION_EXAMPLE = {
  shieldZoneId: 7,
  isEnabled: true,
  title: 'Shop',
  version: '1.4.0',
  maxEndpoints: 50,
  maxFieldsPerType: 128,
  maxNestingDepth: 16,
  maxTotalSchemaNodes: 8192,
  maxTotalRegexLength: 16_384,
  createdAt: CREATED,
  updatedAt: CREATED,
};

const ENDPOINT_EXAMPLE = {
  apiGuardianEndpointId: 1,
  shieldZoneId: 7,
  requestMethod: 'GET',
  requestPath: '/carts/{cartId}',
  validateRequestBodySchema: true,
  validateResponseBodySchema: false,
  validateAuthorization: true,
  isEnabled: true,
  authSchemes: [{ schemeName: 'session', credentialName: 'X-Session', httpScheme: '' }],
  requestBodySchemaYaml: '',
  responseBodySchemasYaml: { 200: 'type: object\nproperties:\n  total:\n    type: number\n' },
  availableParameters: { Path: ['cartId'], Query: [], Header: [], Cookie: [] },
  injectionDetectionParameters: { Path: [], Query: [], Header: [], Cookie: [] },
  detectParameterXss: false,
  detectParameterSqli: false,
  rateLimitingEnabled: false,
  rateLimitingRequestCount: 0,
  createdAt: CREATED,
  updatedAt: CREATED,
};

const DAY = {
  blockedRequests: 12,
  loggedRequests: 3,
  rateLimited: 4,
  requestsInspected: 15,
  failedRequestValidation: 7,
  failedAuthenticationEnforcement: 1,
};

const TOTALS = {
  totalBlockedRequests: 12,
  totalLoggedRequests: 3,
  totalRateLimited: 4,
  totalRequestsInspected: 15,
  totalFailedRequestValidation: 7,
  totalFailedAuthenticationEnforcement: 1,
};

const SHIELD_ROW = { key: 'access-and-zone', errorShape: 'problem', idempotent: true } as const;

const WRONG_ZONE: ErrorExample = {
  key: 'request.invalid',
  field: 'shieldZoneId',
  message: 'shieldZoneId: "seven" is not a whole number -2147483648..2147483647',
};

export const SHIELD_ZONES: OperationGroup = {
  tag: 'Shield zones',
  about: 'API Guardian, bots and access lists',
  schemas: {
    ApiGuardianRequest: API_GUARDIAN_INPUT,
    ApiGuardianResponse: API_GUARDIAN,
    BotActionRequest: BOT_ACTION_INPUT,
    BotCategorizationResponse: BOT_CATEGORIZATION,
    AccessListResponse: ACCESS_LIST,
    ApiGuardianMetricsResponse: API_GUARDIAN_METRICS,
  },
  operations: [
    defineOperation({
      ...SHIELD_ROW,
      number: 3,
      name: 'updateApiGuardianSpec',
      summary: 'Upload or update the OpenAPI specification that API Guardian enforces for a shield zone',
      method: 'PATCH',
      path: '/shield/shield-zone/:shieldZoneId/api-guardian/spec',
      params: ZONE_PATH,
      body: API_GUARDIAN_INPUT,
      bodyLimitBytes: LARGE_BODY_BYTES,
      bodyTypes: ANY_JSON_BODY,
      // One specification is read at a time, for 8 s at most; four may wait before it.
      deadlines: { headersMs: 45_000, bodyMs: 15_000 },
      answer: API_GUARDIAN,
      example: {
        params: { shieldZoneId: 7 },
        body: { content: SPECIFICATION, enforceAuthorizationValidation: true },
        answer: { error: SUCCESS, data: { configuration: CONFIGURATION_EXAMPLE, endpoints: [ENDPOINT_EXAMPLE] } },
      },
    }),
    defineOperation({
      ...SHIELD_ROW,
      number: 5,
      name: 'setBotAction',
      summary: 'Set or clear the action applied to a categorised bot for a shield zone',
      method: 'PUT',
      path: '/shield/shield-zone/:shieldZoneId/bot-categorization/bots/:botId',
      params: { ...ZONE_PATH, botId: ID },
      body: BOT_ACTION_INPUT,
      bodyTypes: ANY_JSON_BODY,
      answer: BOT_CATEGORIZATION,
      errors: {
        404: {
          key: 'bot.not_found',
          field: 'botId',
          message: 'There is no bot 9999',
          request: { params: { shieldZoneId: 7, botId: 9999 } },
        },
      },
      example: {
        params: { shieldZoneId: 7, botId: 4 },
        body: { action: 1 },
        answer: { error: SUCCESS, data: { botId: 4, userAgentMatch: 'GPTBot', isVerifiable: true, category: 2, action: 1 } },
      },
    }),
    defineOperation({
      ...SHIELD_ROW,
      number: 12,
      name: 'getAccessList',
      summary: 'Read a custom access list of a shield zone',
      method: 'GET',
      path: '/shield/shield-zone/:shieldZoneId/access-lists/:id',
      params: { ...ZONE_PATH, id: ID },
      answer: ACCESS_LIST,
      errors: {
        400: { ...WRONG_ZONE, request: { params: { shieldZoneId: 'seven', id: 10 } } },
        404: {
          key: 'accessList.not_found',
          field: 'id',
          message: 'Shield zone 7 has no access list 9999',
          request: { params: { shieldZoneId: 7, id: 9999 } },
        },
      },
      example: {
        params: { shieldZoneId: 7, id: 10 },
        answer: {
          error: SUCCESS,
          data: {
            id: 10,
            name: 'offices',
            description: 'Networks of our own offices',
            type: 1,
            content: '192.0.2.0/24\n198.51.100.0/24\n2001:db8:10::/48',
            checksum: '82f6d08b749b8eced79dd3db286a215d285691bc1f01e0f4e6e53bbbc72fe2c4',
            entryCount: 3,
            lastModified: CREATED,
          },
        },
      },
    }),
    defineOperation({
      ...SHIELD_ROW,
      number: 13,
      name: 'getApiGuardianMetrics',
      summary: 'Read the API Guardian metrics of a shield zone',
      method: 'GET',
      path: '/shield/metrics/shield-zone/:shieldZoneId/api-guardian',
      errorShape: 'status',
      params: ZONE_PATH,
      answer: API_GUARDIAN_METRICS,
      errors: { 400: { ...WRONG_ZONE, request: { params: { shieldZoneId: 'seven' } } } },
      example: {
        params: { shieldZoneId: 7 },
        answer: { error: SUCCESS, data: { ...TOTALS, overviewPastTwentyEightDays: { '2026-01-01': DAY } } },
      },
    }),
  ],
};
