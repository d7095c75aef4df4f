import { NAMED_SCHEMAS } from '../../edge/schemas/named-schemas.ts';
import { COMPANION_PATHS, COMPANION_SCHEMAS } from './openapi-companions.ts';
import { EXPORT_GROUP } from './openapi-export.ts';
import { FEED_GROUP } from './openapi-feed.ts';
import { INGEST_GROUP } from './openapi-ingest.ts';
import { OPERATION_PATHS, OPERATION_TAGS } from './openapi-operations.ts';
import { PROBLEM_DETAILS } from './openapi-problems.ts';
import { PROGRAM_GROUP } from './openapi-program.ts';
import { SEARCH_GROUP } from './openapi-search.ts';

const ABOUT = `Event-log analytics for edge security events, and the management interface beside it.

Operations 2 to 14 are answered by the upstreams that are configured, whose status, body and content type come through unchanged, or by the local
control plane; what is described here is what this program itself answers. A path that there is not is answered with 404, a method that a path
does not have with 405, both in ProblemDetails. [The explorer](/) searches the events of this program.`;

/**
 * The OpenAPI description of what this program serves, put together from one plain object a group of routes.
 *
 * A new route: write `openapi-<thing>.ts` beside this file with a `DescribedGroup` (its tag, paths, schemas; examples for every body,
 * answers for every status it can end in and no others), spread it in below at `tags`, `paths` and `schemas`, and add a driver for each of
 * its statuses to `test/src/openapi/described/`. The tests fail for a route without a description, and for a documented status that nothing
 * drives the program into.
 */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'shieldlog',
    version: '0.1.0',
    description: ABOUT,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ AccessKey: [] }],
  tags: [SEARCH_GROUP.tag, FEED_GROUP.tag, INGEST_GROUP.tag, ...OPERATION_TAGS, PROGRAM_GROUP.tag],
  paths: {
    ...SEARCH_GROUP.paths,
    ...EXPORT_GROUP.paths,
    ...FEED_GROUP.paths,
    ...INGEST_GROUP.paths,
    ...OPERATION_PATHS,
    ...COMPANION_PATHS,
    ...PROGRAM_GROUP.paths,
  },
  components: {
    securitySchemes: {
      AccessKey: {
        type: 'apiKey',
        in: 'header',
        name: 'AccessKey',
        description:
          'A key of ACCESS_KEYS that has the scope read for what reads, ingest for what sends events, manage for what changes, metrics for /metrics. A program without keys listens on loopback only and needs none.',
      },
      PersonalAccessKey: {
        type: 'apiKey',
        in: 'header',
        name: 'AccessKey',
        description: 'A key of ACCESS_KEYS that has the scopes read and personal.',
      },
      DatabaseToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'A token of shieldlog tokens generate, Full Access or Read Only. Needed also where no access keys are.',
      },
    },
    schemas: {
      ...SEARCH_GROUP.schemas,
      ...EXPORT_GROUP.schemas,
      ...FEED_GROUP.schemas,
      ...INGEST_GROUP.schemas,
      ...PROGRAM_GROUP.schemas,
      ProblemDetails: PROBLEM_DETAILS,
      ...NAMED_SCHEMAS,
      ...COMPANION_SCHEMAS,
    },
  },
} as const;
