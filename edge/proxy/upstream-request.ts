import type { ServerResponse } from 'node:http';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { EdgeError } from '../edge-error.ts';
import { whenCallerLeaves } from '../leaving-callers.ts';
import { shown } from '../shown-value.ts';
import { UpstreamCallFailed, UpstreamFault } from './upstream-failure.ts';

/** An upstream of an operation, and what it is told about the caller. */
export interface UpstreamTarget {
  /** Scheme, host and perhaps a path before the operation's, such as `https://api.example/v1`. */
  readonly url: string;
  /** Headers set on every request to it, in lower case: its own key or token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the caller that are passed on, in lower case. `headers` wins. */
  readonly passes: readonly string[];
  /** The local control plane, which writes the same log: it is told the id of the request. */
  readonly isLocal?: true;
}

/** URLs read `.` and `..` as steps even where they are encoded, and some servers take two dots beside a slash for an attack. */
const STEPS = /^\.?$|^\.\.|\.\.\/|\/\.\./;

/**
 * Fills in the placeholders of an operation's path. Every value becomes one segment. Throws EdgeError 404 for a value that no encoding
 * makes one.
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

/** The address of a path at an upstream, with its query. */
export function upstreamUrl(target: UpstreamTarget, path: string, query: Readonly<Record<string, unknown>>): URL {
  const url = new URL(`${target.url.replace(/\/+$/, '')}${path}`);
  url.search = queryText(query);
  return url;
}

/** A query of validated parameters, without question mark. */
export function queryText(query: Readonly<Record<string, unknown>>): string {
  return new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString();
}

/** A request that is being passed to an upstream. */
export interface ProxyCall {
  /** Aborts when the caller goes away before its answer is sent, and when the upstream's headers are late. */
  readonly signal: AbortSignal;
  /** The headers have come: from now on only the caller can abort. */
  headersCame(): void;
}

/**
 * Begins a call. The upstream has `headersMs` for its headers, including the wait for a connection: undici's own deadline begins when the
 * request is written, and anew with every `1xx`.
 */
export function beginCall(response: ServerResponse, headersMs: number): ProxyCall {
  const controller = new AbortController();
  const late = setTimeout(() => controller.abort(new UpstreamFault('UPSTREAM_TOO_SLOW', `no headers within ${headersMs} ms`)), headersMs);
  controller.signal.addEventListener('abort', () => clearTimeout(late));
  response.once('close', () => clearTimeout(late));
  whenCallerLeaves(response, () =>
    controller.abort(new UpstreamFault('CALLER_GONE', 'the caller closed the connection before the answer')),
  );
  return { signal: controller.signal, headersCame: () => clearTimeout(late) };
}

interface UpstreamAgentOptions {
  /** Connections to one upstream. Further requests wait until one is free. */
  readonly connections: number;
  readonly connectMs: number;
}

/** Connections to the upstreams, kept for the next request. */
interface UpstreamAgent {
  /** `operation` is for the log. Rejects with UpstreamCallFailed. */
  send(operation: string, request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  destroy(): Promise<void>;
}

export function makeUpstreamAgent({ connections, connectMs }: UpstreamAgentOptions): UpstreamAgent {
  // HTTP/1.1 only: over one connection of HTTP/2 all calls would fail together.
  const connector = buildConnector({ timeout: connectMs, allowH2: false });
  // The errors with which no connection was made: no upstream has had the requests that end with them.
  const unconnected = new WeakSet<Error>();
  const connect: typeof connector = (options, callback) =>
    connector(options, (...outcome) => {
      if (outcome[0] !== null) unconnected.add(outcome[0]);
      callback(...outcome);
    });
  const agent = new Agent({ connections, pipelining: 1, allowH2: false, connect });
  return {
    async send(operation, request) {
      try {
        return await agent.request(request);
      } catch (error) {
        throw new UpstreamCallFailed(operation, error as Error, !unconnected.has(error as Error));
      }
    },
    destroy: () => agent.destroy(),
  };
}
