import { CONTAINER_EXAMPLES } from './examples/container-examples.ts';
import type { Operation } from './operation.ts';
import { DEADLINES, NO_QUERY, pathSchema, WITHOUT_BODY } from './operation-defaults.ts';
import { OVERVIEW, STATISTICS, STATISTICS_QUERY } from './schemas/application.ts';
import { errorResponses } from './schemas/error-schemas.ts';
import { NODES, NODES_QUERY } from './schemas/nodes.ts';

const CONTAINERS = {
  ...WITHOUT_BODY,
  upstream: 'management',
  key: 'personal',
  errorShape: 'errors-list',
  method: 'GET',
  idempotent: true,
  deadlines: DEADLINES,
} as const;

/** No slash, dot segment or percent sign, so that no identifier makes another path of it. */
const APP_PATH = { appId: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' } };

/** Container applications and nodes. */
export const CONTAINER_OPERATIONS: readonly Operation[] = [
  {
    ...CONTAINERS,
    id: 9,
    name: 'getApplicationStatistics',
    summary: 'Read the historical statistics of a container application',
    path: '/mc/apps/:appId/statistics',
    params: pathSchema(APP_PATH),
    query: STATISTICS_QUERY,
    responses: { 200: STATISTICS, ...errorResponses('errors-list', [404]) },
    example: CONTAINER_EXAMPLES.getApplicationStatistics,
  },
  {
    ...CONTAINERS,
    id: 10,
    name: 'getApplicationOverview',
    summary: 'Read the overview of a container application',
    path: '/mc/apps/:appId/overview',
    params: pathSchema(APP_PATH),
    query: NO_QUERY,
    responses: { 200: OVERVIEW, ...errorResponses('errors-list', [404]) },
    example: CONTAINER_EXAMPLES.getApplicationOverview,
  },
  {
    ...CONTAINERS,
    id: 11,
    name: 'listNodes',
    summary: 'List the IP addresses of all nodes in the container network',
    path: '/mc/nodes',
    params: pathSchema({}),
    query: NODES_QUERY,
    responses: { 200: NODES, ...errorResponses('errors-list') },
    example: CONTAINER_EXAMPLES.listNodes,
  },
];
