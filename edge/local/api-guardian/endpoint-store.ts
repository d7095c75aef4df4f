import type { DatabaseSync } from 'node:sqlite';
import type { ReadSpec, SpecEndpoint } from './read-spec.ts';
import { GUARDIAN_LIMITS } from './spec-tree.ts';

export const GUARDIAN_MIGRATION = `
  CREATE TABLE guardian_configuration (
    zone_id INTEGER PRIMARY KEY,
    content TEXT NOT NULL,
    title TEXT NOT NULL,
    version TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE guardian_endpoint (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    zone_id INTEGER NOT NULL REFERENCES guardian_configuration (zone_id) ON DELETE CASCADE,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    validate_authorization INTEGER NOT NULL,
    -- What the specification says of it, as JSON.
    facts TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (zone_id, method, path)
  ) STRICT;
`;

interface StoredConfiguration {
  readonly zoneId: number;
  readonly title: string;
  readonly version: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

interface StoredEndpoint extends SpecEndpoint {
  readonly id: number;
  readonly validateAuthorization: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
}

interface StoredSpec {
  readonly configuration: StoredConfiguration;
  readonly endpoints: readonly StoredEndpoint[];
}

interface SpecUpdate {
  readonly zoneId: number;
  readonly content: string;
  readonly spec: ReadSpec;
  /** Undefined: each endpoint keeps its setting, and a new one has false. */
  readonly enforceAuthorization: boolean | undefined;
  readonly nowMs: number;
}

function storeConfiguration(db: DatabaseSync, { zoneId, content, spec, nowMs }: SpecUpdate): StoredConfiguration {
  const { title, version } = spec;
  const row = db
    .prepare(
      `INSERT INTO guardian_configuration VALUES (:zone, :content, :title, :version, :now, :now)
       ON CONFLICT DO UPDATE SET content = :content, title = :title, version = :version, updated_ms = :now
       RETURNING created_ms`,
    )
    .get({ zone: zoneId, content, title, version, now: nowMs });
  return { zoneId, title, version, createdMs: Number(row?.['created_ms']), updatedMs: nowMs };
}

function storeEndpoint(db: DatabaseSync, { zoneId, enforceAuthorization, nowMs }: SpecUpdate, endpoint: SpecEndpoint): StoredEndpoint {
  const { method, path, ...facts } = endpoint;
  const row = db
    .prepare(
      `INSERT INTO guardian_endpoint (zone_id, method, path, validate_authorization, facts, created_ms, updated_ms)
       VALUES (:zone, :method, :path, coalesce(:enforce, 0), :facts, :now, :now)
       ON CONFLICT (zone_id, method, path) DO UPDATE SET
         validate_authorization = coalesce(:enforce, validate_authorization),
         facts = :facts,
         updated_ms = iif(facts = :facts AND validate_authorization = coalesce(:enforce, validate_authorization), updated_ms, :now)
       RETURNING id, validate_authorization, created_ms, updated_ms`,
    )
    .get({
      zone: zoneId,
      method,
      path,
      enforce: enforceAuthorization === undefined ? null : Number(enforceAuthorization),
      facts: JSON.stringify(facts),
      now: nowMs,
    });
  return {
    ...endpoint,
    id: Number(row?.['id']),
    validateAuthorization: row?.['validate_authorization'] === 1,
    createdMs: Number(row?.['created_ms']),
    updatedMs: Number(row?.['updated_ms']),
  };
}

/**
 * Replaces the specification of a zone. An endpoint that stays keeps its id, its time of creation and its setting; others are removed. Call
 * it inside a transaction.
 */
export function storeSpec(db: DatabaseSync, update: SpecUpdate): StoredSpec {
  const configuration = storeConfiguration(db, update);
  const endpoints = update.spec.endpoints.map((endpoint) => storeEndpoint(db, update, endpoint));
  const kept = JSON.stringify(endpoints.map(({ id }) => id));
  db.prepare('DELETE FROM guardian_endpoint WHERE zone_id = ? AND id NOT IN (SELECT value FROM json_each(?))').run(update.zoneId, kept);
  return { configuration, endpoints };
}

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
    // No operation changes these: they are those of a new endpoint.
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
