import { COUNT, exactly, ID, INT32, input, listOf, mapOf, TEXT, TIME, YES_OR_NO } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

export const API_GUARDIAN_INPUT = input(
  {
    content: { ...TEXT, description: 'OpenAPI 3.0 as JSON or YAML, at most 2 MB' },
    enforceAuthorizationValidation: { ...YES_OR_NO, description: 'Left out: each endpoint keeps what it has' },
  },
  ['content'],
);

const PARAMETERS = exactly({ Path: listOf(TEXT), Query: listOf(TEXT), Header: listOf(TEXT), Cookie: listOf(TEXT) });

const CONFIGURATION = exactly({
  shieldZoneId: INT32,
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
  shieldZoneId: INT32,
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

export const API_GUARDIAN = shieldEnvelope(exactly({ configuration: CONFIGURATION, endpoints: listOf(ENDPOINT) }));
