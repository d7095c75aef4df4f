import { NAMED_SCHEMAS } from '../../edge/operations/operations.ts';
import { ALERTS_GROUP } from './openapi-alerts.ts';
import { BACKTEST_GROUP } from './openapi-backtest.ts';
import { BACKUP_GROUP } from './openapi-backup.ts';
import { CHECK_GROUP } from './openapi-check.ts';
import { DOORS_GROUP } from './openapi-doors.ts';
import type { DescribedGroup, PathItem } from './openapi-elements.ts';
import { EXPLORE_GROUP } from './openapi-explore.ts';
import { FEED_GROUP } from './openapi-feed.ts';
import { INGEST_GROUP } from './openapi-ingest.ts';
import { KAFKA_GROUP } from './openapi-kafka.ts';
import { ALL_OPERATIONS, OPERATION_PATHS, OPERATION_TAGS } from './openapi-operations.ts';
import { PROBLEM_DETAILS, problemAnswers } from './openapi-problems.ts';
import { PROGRAM_GROUP } from './openapi-program.ts';
import { EXPORT_GROUP, SEARCH_GROUP } from './openapi-search.ts';

const ABOUT = `Event-log analytics for edge security events, and the management interface beside it.

${ALL_OPERATIONS} are answered by the upstreams that are configured, whose status, body and content type come through
unchanged, or by the local control plane; what is described here is what this program itself answers. Query parameters that they,
or operation 1, do not have are passed over, and an optional one that is empty counts as absent. A path that there
is not is answered with 404, or 501 where the platform may have it, and a method that a path does not have with 405, all in
ProblemDetails, and at doors in their words. [The explorer](./) searches the events of this program.`;

/** What is about events, and what is about the program itself. */
const EVENT_GROUPS: readonly DescribedGroup[] = [
  SEARCH_GROUP,
  EXPLORE_GROUP,
  EXPORT_GROUP,
  FEED_GROUP,
  BACKTEST_GROUP,
  INGEST_GROUP,
  DOORS_GROUP,
  KAFKA_GROUP,
  ALERTS_GROUP,
];
const PROGRAM_GROUPS: readonly DescribedGroup[] = [BACKUP_GROUP, CHECK_GROUP, PROGRAM_GROUP];

const SCHEMAS: DescribedGroup['schemas'] = Object.assign({}, ...[...EVENT_GROUPS, ...PROGRAM_GROUPS].map(({ schemas }) => schemas));

const tagsOf = (groups: readonly DescribedGroup[]) =>
  groups.flatMap(({ tag, about }) => (about === undefined ? [] : [{ name: tag, description: about }]));

/** A path as examples have it. */
const calledPath = (path: string): string => path.replace('{shieldZoneId}', '7');

function pathsOf(groups: readonly DescribedGroup[]): Readonly<Record<string, PathItem>> {
  const paths = groups.flatMap(({ tag, paths: items }) =>
    Object.entries(items).map(([path, methods]) => {
      const described = Object.entries(methods).map(([method, { problems, responses, ...words }]) => {
        const others = problems === undefined ? {} : problemAnswers(calledPath(path), ...problems);
        return [method, { tags: [tag], ...words, responses: { ...responses, ...others } }] as const;
      });
      return [path, Object.fromEntries(described)] as const;
    }),
  );
  return Object.fromEntries(paths);
}

/**
 * The OpenAPI description of what this program serves. The operations beside the search come from their table in `edge/operations/`, the
 * other routes from a `DescribedGroup` each.
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
  tags: [...tagsOf(EVENT_GROUPS), ...OPERATION_TAGS, ...tagsOf(PROGRAM_GROUPS)],
  paths: { ...pathsOf(EVENT_GROUPS), ...OPERATION_PATHS, ...pathsOf(PROGRAM_GROUPS) },
  components: {
    securitySchemes: {
      AccessKey: {
        type: 'apiKey',
        in: 'header',
        name: 'AccessKey',
        description:
          'A key of ACCESS_KEYS that has the scope read for what reads, ingest for what sends events, manage for what changes, metrics ' +
          'for /metrics. A program without keys listens on loopback only and needs none.',
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
      ...SCHEMAS,
      ProblemDetails: PROBLEM_DETAILS,
      ...NAMED_SCHEMAS,
    },
  },
} as const;

/** The end of the hour that every example is about, Unix ms UTC. */
const EXAMPLES_AT_MS = Date.UTC(2026, 0, 1, 1);

/** Times of that hour, as numbers or ISO 8601, also inside texts. */
const EXAMPLE_NUMBER = /\b176722[5-9]\d{6}\b/g;
const EXAMPLE_TEXT = /\b2026-01-01T0[01]:\d\d:\d\d(?:\.\d+)?Z/g;

type Security = readonly Readonly<Record<string, readonly string[]>>[];

interface SecuredOperation {
  readonly security?: Security;
}

type SecuredPaths = Readonly<Record<string, Readonly<Record<string, SecuredOperation>>>>;

/** Without access keys only operations of the database need a credential. */
function securityOf({ security = OPENAPI_DOCUMENT.security }: SecuredOperation, hasKeys: boolean): Security {
  return hasKeys ? security : security.filter((wanted) => Object.hasOwn(wanted, 'DatabaseToken'));
}

/** What of the configuration shows in the document. */
export interface ServedAs {
  /** Whether access keys are configured. */
  readonly hasKeys: boolean;
  /** Where browsers find the program if a proxy is in front; null: at its own address. */
  readonly publicUrl: string | null;
}

function documentAs({ hasKeys, publicUrl }: ServedAs): object {
  const { security: _, paths, servers: own, ...rest } = OPENAPI_DOCUMENT;
  const secured = Object.entries(paths as SecuredPaths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [method, { ...operation, security: securityOf(operation, hasKeys) }]),
    ),
  ]);
  const servers = publicUrl === null ? own : [{ url: publicUrl }, ...own];
  return { ...rest, servers, paths: Object.fromEntries(secured) };
}

/**
 * Returns a function that makes the document for the time `nowMs` (Unix ms UTC). The times of its examples are moved to the hour before it,
 * because a search only reaches back some days. Each operation names the credentials that it needs, which depends on whether access keys
 * are configured; one that needs none has an empty `security`.
 */
export function servedDocument(as: ServedAs): (nowMs: number) => Record<string, unknown> {
  const template = JSON.stringify(documentAs(as));
  return (nowMs) => {
    const byMs = nowMs - EXAMPLES_AT_MS;
    const text = template
      .replaceAll(EXAMPLE_NUMBER, (time) => String(Number(time) + byMs))
      .replaceAll(EXAMPLE_TEXT, (time) => new Date(Date.parse(time) + byMs).toISOString());
    return JSON.parse(text) as Record<string, unknown>;
  };
}
