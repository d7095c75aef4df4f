import { INGEST_GROUP } from './openapi-ingest.ts';
import { PROBLEM_DETAILS } from './openapi-problems.ts';
import { PROGRAM_GROUP } from './openapi-program.ts';
import { SEARCH_GROUP } from './openapi-search.ts';

/**
 * The OpenAPI description of what this program serves, put together from one plain object a group of routes.
 *
 * A new route: write `openapi-<thing>.ts` beside this file with a `DescribedGroup` (its tag, paths, schemas; examples for every body, answers for
 * every status it can end in and no others), spread it in below at `tags`, `paths` and `schemas`, and add a driver for each of its statuses to
 * `test/src/described/`. The tests fail for a route without a description, and for a documented status that nothing drives the program into.
 */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'shieldlog',
    version: '0.1.0',
    description: 'Event-log analytics for edge security events',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ AccessKey: [] }],
  tags: [SEARCH_GROUP.tag, INGEST_GROUP.tag, PROGRAM_GROUP.tag],
  paths: {
    ...SEARCH_GROUP.paths,
    ...INGEST_GROUP.paths,
    ...PROGRAM_GROUP.paths,
  },
  components: {
    securitySchemes: {
      AccessKey: {
        type: 'apiKey',
        in: 'header',
        name: 'AccessKey',
        description: 'A key of ACCESS_KEYS. A program without keys listens on loopback only and needs none.',
      },
    },
    schemas: {
      ...SEARCH_GROUP.schemas,
      ...INGEST_GROUP.schemas,
      ...PROGRAM_GROUP.schemas,
      ProblemDetails: PROBLEM_DETAILS,
    },
  },
} as const;
