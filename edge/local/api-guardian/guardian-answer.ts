import type { StoredConfiguration, StoredEndpoint, StoredSpec } from './endpoint-store.ts';
import { GUARDIAN_LIMITS } from './guardian-limits.ts';

const isoTime = (ms: number): string => new Date(ms).toISOString();

const NO_PARAMETERS = { Path: [], Query: [], Header: [], Cookie: [] };

function configurationAnswer({ zoneId, title, version, createdMs, updatedMs }: StoredConfiguration): unknown {
  return {
    shieldZoneId: zoneId,
    isEnabled: true,
    title,
    version,
    ...GUARDIAN_LIMITS,
    createdAt: isoTime(createdMs),
    updatedAt: isoTime(updatedMs),
  };
}

function endpointAnswer(endpoint: StoredEndpoint, zoneId: number): unknown {
  return {
    apiGuardianEndpointId: endpoint.id,
    shieldZoneId: zoneId,
    requestMethod: endpoint.method,
    requestPath: endpoint.path,
    // No operation of the interface changes these; an endpoint has what a new one has.
    validateRequestBodySchema: true,
    validateResponseBodySchema: false,
    validateAuthorization: endpoint.validateAuthorization,
    isEnabled: true,
    authSchemes: endpoint.authSchemes,
    requestBodySchemaYaml: endpoint.requestBodySchemaYaml,
    responseBodySchemasYaml: endpoint.responseBodySchemasYaml,
    availableParameters: endpoint.availableParameters,
    injectionDetectionParameters: NO_PARAMETERS,
    detectParameterXss: false,
    detectParameterSqli: false,
    rateLimitingEnabled: false,
    rateLimitingRequestCount: 0,
    createdAt: isoTime(endpoint.createdMs),
    updatedAt: isoTime(endpoint.updatedMs),
  };
}

/** A zone's specification as the interface shows it. */
export function guardianAnswer({ configuration, endpoints }: StoredSpec): unknown {
  return {
    configuration: configurationAnswer(configuration),
    endpoints: endpoints.map((endpoint) => endpointAnswer(endpoint, configuration.zoneId)),
  };
}
