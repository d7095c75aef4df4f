import { PLATFORM_EXAMPLES } from './examples/platform-examples.ts';
import type { Operation } from './operation.ts';
import { DEADLINES, JSON_BODY, LARGE_BODY_BYTES, NO_QUERY, pathSchema, SMALL_BODY_BYTES } from './operation-defaults.ts';
import { DNS_ZONE, DNS_ZONE_INPUT } from './schemas/dns-zone.ts';
import { BODY_REFUSALS, errorResponses } from './schemas/error-schemas.ts';
import { ID } from './schemas/object-schema.ts';
import { HOSTNAME_INPUT, HTTP_CHALLENGE } from './schemas/pull-zone.ts';
import { SCRIPT_VARIABLE, SCRIPT_VARIABLE_INPUT } from './schemas/script-variable.ts';

const LEGACY = {
  upstream: 'management',
  key: 'access',
  errorShape: 'legacy',
  query: NO_QUERY,
  bodyTypes: JSON_BODY,
  deadlines: DEADLINES,
} as const;

const BODY_ERRORS = [404, ...BODY_REFUSALS];

/** Scripts, DNS zones and pull zones. */
export const PLATFORM_OPERATIONS: readonly Operation[] = [
  {
    ...LEGACY,
    id: 2,
    name: 'upsertScriptVariable',
    summary: 'Add a variable to an edge script, or change the one of that name',
    method: 'PUT',
    path: '/compute/script/:id/variables',
    params: pathSchema({ id: ID }),
    body: SCRIPT_VARIABLE_INPUT,
    bodyLimitBytes: SMALL_BODY_BYTES,
    responses: { 200: SCRIPT_VARIABLE, ...errorResponses('legacy', BODY_ERRORS) },
    idempotent: true,
    example: PLATFORM_EXAMPLES.upsertScriptVariable,
  },
  {
    ...LEGACY,
    id: 4,
    name: 'addDnsZone',
    summary: 'Create a DNS zone with its records',
    method: 'POST',
    path: '/dnszone',
    params: pathSchema({}),
    body: DNS_ZONE_INPUT,
    bodyLimitBytes: LARGE_BODY_BYTES,
    responses: { 201: DNS_ZONE, ...errorResponses('legacy', BODY_REFUSALS) },
    idempotent: false,
    example: PLATFORM_EXAMPLES.addDnsZone,
  },
  {
    ...LEGACY,
    id: 6,
    name: 'requestExternalHttpCertificate',
    summary: 'Request an external HTTP certificate for a hostname of a pull zone',
    method: 'POST',
    path: '/pullzone/requestExternalHttpCertificate',
    params: pathSchema({}),
    body: HOSTNAME_INPUT,
    bodyLimitBytes: SMALL_BODY_BYTES,
    responses: { 200: HTTP_CHALLENGE, ...errorResponses('legacy', BODY_ERRORS) },
    idempotent: false,
    example: PLATFORM_EXAMPLES.requestExternalHttpCertificate,
  },
  {
    ...LEGACY,
    id: 7,
    name: 'completeExternalHttpCertificate',
    summary: 'Complete the external HTTP certificate of a hostname, once its challenge is served',
    method: 'POST',
    path: '/pullzone/completeExternalHttpCertificate',
    params: pathSchema({}),
    body: HOSTNAME_INPUT,
    bodyLimitBytes: SMALL_BODY_BYTES,
    responses: { 200: null, ...errorResponses('legacy', BODY_ERRORS) },
    idempotent: false,
    // The challenge is looked up while the caller waits.
    deadlines: { headersMs: 45_000, bodyMs: 15_000 },
    example: PLATFORM_EXAMPLES.completeExternalHttpCertificate,
  },
  {
    ...LEGACY,
    id: 8,
    name: 'removeHostname',
    summary: 'Remove a custom hostname from a pull zone',
    method: 'DELETE',
    path: '/pullzone/:id/removeHostname',
    params: pathSchema({ id: ID }),
    body: HOSTNAME_INPUT,
    bodyLimitBytes: SMALL_BODY_BYTES,
    responses: { 204: null, ...errorResponses('legacy', BODY_ERRORS) },
    idempotent: false,
    example: PLATFORM_EXAMPLES.removeHostname,
  },
];
