import type { OperationExample } from '../operation.ts';

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

const CONFIGURATION = {
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

const ENDPOINT = {
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

/** Of the operations on shield zones, by their names. */
export const SHIELD_EXAMPLES = {
  updateApiGuardianSpec: {
    params: { shieldZoneId: 7 },
    query: {},
    body: { content: SPECIFICATION, enforceAuthorizationValidation: true },
    status: 200,
    answer: { error: SUCCESS, data: { configuration: CONFIGURATION, endpoints: [ENDPOINT] } },
  },
  setBotAction: {
    params: { shieldZoneId: 7, botId: 4 },
    query: {},
    body: { action: 1 },
    status: 200,
    answer: { error: SUCCESS, data: { botId: 4, userAgentMatch: 'GPTBot', isVerifiable: true, category: 2, action: 1 } },
  },
  getAccessList: {
    params: { shieldZoneId: 7, id: 10 },
    query: {},
    body: null,
    status: 200,
    answer: {
      error: SUCCESS,
      data: {
        id: 10,
        name: 'offices',
        description: 'Networks of our own offices',
        type: 1,
        content: '192.0.2.0/24\n198.51.100.0/24\n2001:db8:10::/48\n',
        checksum: '9c5f90fbd97c10a53eaebf580271527dedcdad9105b3103efa28a04d1f16bd4c',
        entryCount: 3,
        lastModified: CREATED,
      },
    },
  },
  getApiGuardianMetrics: {
    params: { shieldZoneId: 7 },
    query: {},
    body: null,
    status: 200,
    answer: { error: SUCCESS, data: { ...TOTALS, overviewPastTwentyEightDays: { '2026-01-01': DAY } } },
  },
} as const satisfies Readonly<Record<string, OperationExample>>;
