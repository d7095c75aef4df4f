import Negotiator from 'negotiator';

/** Clients of Elasticsearch talk to nothing that does not say so. */
export const PRODUCT_HEADERS = { 'x-elastic-product': 'Elasticsearch' };

/** The types of a bulk request. The parameter `compatible-with` is passed over. */
export const BULK_TYPES = [
  'application/x-ndjson',
  'application/vnd.elasticsearch+x-ndjson',
  'application/json',
  'application/vnd.elasticsearch+json',
] as const;

/** What Elasticsearch calls errors, by the status of the answer. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'security_exception',
  403: 'security_exception',
  413: 'content_too_long_exception',
  415: 'media_type_header_exception',
  429: 'es_rejected_execution_exception',
};

/** An error as Elasticsearch answers it. */
export function elasticsearchError(status: number, reason: string) {
  const error = { type: ERROR_TYPES[status] ?? 'illegal_argument_exception', reason };
  return { error: { root_cause: [error], ...error }, status };
}

const VENDOR_TYPE = /^application\/vnd\.elasticsearch\+json$/i;

/** The type of an answer: that of a version, where `Accept` names one, and else plain JSON. */
export function elasticsearchType(accept: string | undefined): string {
  const [named] = (accept ?? '').split(',').filter((range) => VENDOR_TYPE.test(range.split(';', 1)[0]?.trim() ?? ''));
  const [, version] = /;\s*compatible-with="?(\d{1,3})/.exec(named ?? '') ?? [];
  if (named === undefined) return 'application/json; charset=utf-8';
  return `application/vnd.elasticsearch+json${version === undefined ? '' : `; compatible-with="${version}"`}; charset=utf-8`;
}

/** Whether a client of Elasticsearch asks, and no browser: `Accept` names a JSON type and no page. */
export function isElasticsearchClient(accept: string | undefined): boolean {
  const types = new Negotiator({ headers: { accept: accept ?? '' } }).mediaTypes();
  return types.some((type) => /^application\/(json|vnd\.elasticsearch\+json)$/.test(type)) && !types.includes('text/html');
}

/** What Elasticsearch answers at its root. Clients look for a version that they know. */
export const GREETING = JSON.stringify({
  name: 'shieldlog',
  cluster_name: 'shieldlog',
  cluster_uuid: 'c2hpZWxkbG9nLXNoaWVsZA',
  version: {
    number: '8.19.0',
    build_flavor: 'default',
    build_type: 'tar',
    build_hash: '0000000000000000000000000000000000000000',
    build_date: '2026-01-01T00:00:00.000Z',
    build_snapshot: false,
    lucene_version: '9.12.0',
    minimum_wire_compatibility_version: '7.17.0',
    minimum_index_compatibility_version: '7.0.0',
  },
  tagline: 'You Know, for Search',
});
