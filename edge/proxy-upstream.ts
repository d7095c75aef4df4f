import { EdgeError } from './edge-error.ts';
import { shown } from './shown-value.ts';

/** Who answers an operation, and what it is to be told about the caller. */
export interface UpstreamTarget {
  /** Scheme, host and perhaps a path before the operation's own, such as `https://api.example/v1`. */
  readonly url: string;
  /** Headers set on every request to it, in lower case: its own key or token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the caller that are handed on as they are, in lower case. `headers` wins. */
  readonly passes: readonly string[];
}

/** URLs take `.` and `..` for steps also where they are encoded, and @fastify/reply-from takes two dots beside a slash for an attack. */
const STEPS = /^\.?$|^\.\.|\.\.\/|\/\.\./;

/**
 * The path of an operation with its placeholders filled in; every value is one segment. Throws EdgeError 404 for what no encoding makes
 * one.
 */
export function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/:([A-Za-z]+)/g, (_match, name: string) => {
    const value = String(params[name]);
    if (STEPS.test(value) || !value.isWellFormed()) {
      throw new EdgeError(404, 'route.not_found', `${name}: ${shown(value)} names nothing`, { field: name });
    }
    return encodeURIComponent(value);
  });
}

/** The address of a path at an upstream, without query. */
export function upstreamUrl(target: UpstreamTarget, path: string): string {
  return `${target.url.replace(/\/+$/, '')}${path}`;
}

/** A query of validated parameters, without question mark. */
export function queryText(query: Readonly<Record<string, unknown>>): string {
  return new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString();
}
