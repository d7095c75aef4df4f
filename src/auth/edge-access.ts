import type { FastifyRequest } from 'fastify';
import type { ProxiedRoute } from '../../edge/operation.ts';
import { type AccessKey, findAccessKey } from '../config/access-key.ts';
import { RequestProblem } from '../http/problem.ts';
import { parseZoneId } from '../http/zone-of-path.ts';
import { callerOf, requireScope, requireZone } from './access.ts';

export interface EdgeAccess {
  readonly keys: readonly AccessKey[];
  /** Whether the program sends a database token of its own, which must not serve just anybody. */
  readonly holdsDatabaseToken: boolean;
  /** Where the database is the local one, whose tokens can be judged here; null: the database judges. */
  readonly requireDatabaseToken: ((authorization: string | undefined) => void) | null;
}

/** Libraries for the database send nothing but a bearer token: an access key with the scope `database` stands in its place. */
function requireDatabaseKey(request: FastifyRequest, keys: readonly AccessKey[]): void {
  const unauthorized = { headers: { 'www-authenticate': 'Bearer' } };
  const presented = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (presented === undefined) {
    throw new RequestProblem('access.key_missing', 'Authorization: Bearer with an access key is missing', unauthorized);
  }
  const key = findAccessKey(keys, presented);
  if (key === undefined) throw new RequestProblem('access.key_unknown', 'The bearer token is no access key of this program', unauthorized);
  requireScope({ hasScope: (scope) => key.scopes.has(scope) }, 'database');
}

/** Throws RequestProblem where the caller may not use the operation. The `AccessKey` header has been looked at before. */
export function authorizeOperation(
  request: FastifyRequest,
  operation: ProxiedRoute,
  { keys, holdsDatabaseToken, requireDatabaseToken }: EdgeAccess,
): void {
  switch (operation.key) {
    case 'access':
    case 'none':
      return;
    case 'personal':
      requireScope(callerOf(request), 'personal');
      return;
    case 'access-and-zone':
      requireZone(request, parseZoneId((request.params as { shieldZoneId: string }).shieldZoneId));
      return;
    case 'bearer':
      // Nobody without a token makes the program read megabytes. Of an upstream database, only that knows its tokens.
      requireDatabaseToken?.(request.headers.authorization);
      // Without keys only this machine gets here.
      if (holdsDatabaseToken && keys.length > 0) requireDatabaseKey(request, keys);
      return;
  }
}
