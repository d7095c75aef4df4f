import type { ProxiedRoute } from './operation.ts';
import { DEADLINES, NO_QUERY, pathSchema, WITHOUT_BODY } from './operation-defaults.ts';
import { TEXT } from './schemas/object-schema.ts';

const OPEN = { ...WITHOUT_BODY, method: 'GET', key: 'none', query: NO_QUERY, idempotent: true, deadlines: DEADLINES } as const;

/** What clients ask beside the operations, without a key. */
export const COMPANION_ROUTES: readonly ProxiedRoute[] = [
  {
    ...OPEN,
    // The file of operation 6, as those fetch it who verify a hostname: under that name (RFC 8555, 8.3). Only the local control plane has
    // such files.
    id: 6,
    name: 'getHttpChallenge',
    path: '/.well-known/acme-challenge/:token',
    anyHost: true,
    upstream: 'local',
    errorShape: 'problem',
    params: pathSchema({ token: TEXT }),
  },
  {
    ...OPEN,
    // Clients of the database look whether its server speaks this version of the protocol.
    id: 14,
    name: 'getDatabaseProtocol',
    path: '/v2',
    upstream: 'database',
    errorShape: 'pipeline',
    params: pathSchema({}),
  },
];
