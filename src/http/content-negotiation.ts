import * as contentType from 'content-type';
import Negotiator from 'negotiator';
import { RequestProblem } from './problem.ts';

/** What operation 1 answers with; the first is what `*` and a missing `Accept` get. */
export const SEARCH_ANSWER_TYPES = ['application/json', 'text/json', 'text/plain'] as const;

/**
 * The most preferred of `offered` by an `Accept` header (undefined or blank: anything).
 * Throws RequestProblem `accept.none` when none is acceptable.
 */
export function negotiateAnswer<T extends string>(acceptHeader: string | undefined, offered: readonly T[]): T {
  // Our answers are UTF-8 and say so; the negotiator would take `application/json;charset=utf-8` for a type we do not offer.
  const accept = acceptHeader?.replaceAll(/;\s*charset="?utf-?8"?(?=\s*(?:[;,]|$))/gi, '').trim();
  const negotiator = new Negotiator({ headers: { accept: accept === '' ? undefined : accept } });
  const best = negotiator.mediaType(offered);
  const found = offered.find((type) => type === best);
  if (found !== undefined) return found;
  throw new RequestProblem('accept.none', `Accept: ${acceptHeader} takes none of ${offered.join(', ')}`);
}

/** What the intake takes beside JSON; `application/x-ndjson` is the name to use, the others are what tools send. */
export const LINE_TYPES = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
  'application/octet-stream',
  'text/plain',
] as const;

export function isLineType(type: string): boolean {
  return LINE_TYPES.some((candidate) => candidate === type);
}

/** What `isJsonType` takes, for messages and for the interface's description. */
export const JSON_TYPES = ['application/json', 'text/json', 'application/*+json'] as const;

export function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || /^application\/[^/+]+(\+[^/+]+)*\+json$/.test(type);
}

/**
 * The media type of a request body in lower case, without parameters.
 * Throws RequestProblem `body.unsupported_type` unless `isAllowed` takes it and its charset, if named, is UTF-8.
 */
export function requireBodyType(header: string | undefined, isAllowed: (type: string) => boolean, allowed: string): string {
  const { type, parameters } = contentType.parse(header ?? '');
  const charset = parameters['charset']?.toLowerCase();
  if (header === undefined || !contentType.isTypeValid(type) || !isAllowed(type)) {
    throw new RequestProblem('body.unsupported_type', `Content-Type: ${header ?? '(none)'} is not supported; allowed: ${allowed}`);
  }
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new RequestProblem('body.unsupported_type', `The charset "${charset}" is not supported; allowed: utf-8`);
  }
  return type;
}

/** Throws RequestProblem `body.unsupported_type` for a body with a content encoding. */
export function requirePlainBody(header: string | undefined): void {
  if (header === undefined || header.trim() === '' || header.trim().toLowerCase() === 'identity') return;
  throw new RequestProblem('body.unsupported_type', `Content-Encoding: ${header} is not supported here; allowed: identity`, {
    headers: { 'accept-encoding': 'identity' },
  });
}
