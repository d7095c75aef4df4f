import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyReplyFromOptions } from '@fastify/reply-from';
import { Agent } from 'undici';
import { UpstreamCallFailed } from './proxy-failure.ts';

type Requester = Extract<NonNullable<FastifyReplyFromOptions['undici']>, { request: unknown }>;

export interface UpstreamAgentOptions {
  /** At most so many connections to one upstream; further requests wait until one is free. */
  readonly connections: number;
  readonly connectMs: number;
}

/** Connections to the upstreams, kept for the next request. */
export interface UpstreamAgent {
  /** For @fastify/reply-from, which destroys it with the app. */
  readonly requester: Requester & { destroy(): Promise<void> };
  /** Runs `send`; the request that it makes ends, queued or under way, when `signal` aborts. `operation` is for the log. */
  sendUntil<T>(signal: AbortSignal, operation: string, send: () => T): T;
}

interface Call {
  readonly signal: AbortSignal;
  readonly operation: string;
}

/**
 * @fastify/reply-from takes no signal, and undici's own deadlines are not enough: theirs for the headers begins when the request is
 * written, not while it waits for a connection, and anew with every `1xx`.
 */
export function makeUpstreamAgent({ connections, connectMs }: UpstreamAgentOptions): UpstreamAgent {
  // Given no other TLS options, undici checks certificates; @fastify/reply-from's own agent would take any.
  // HTTP/1.1 only: over one connection of HTTP/2 all calls would fail together.
  const agent = new Agent({ connections, pipelining: 1, allowH2: false, connect: { timeout: connectMs } });
  const calls = new AsyncLocalStorage<Call>();
  // All that @fastify/reply-from, which has an older undici of its own, asks of ours; it is only ever called with a callback.
  const request = (options: object, callback: (error: Error | null, answer: unknown) => void): void => {
    const call = calls.getStore();
    const send = agent.request.bind(agent) as unknown as (
      options: object,
      callback: (error: Error | null, answer: unknown) => void,
    ) => void;
    send({ ...options, signal: call?.signal }, (error, answer) =>
      callback(error === null ? null : new UpstreamCallFailed(call?.operation ?? 'unknown', error), answer),
    );
  };
  return {
    requester: { request: request as unknown as Requester['request'], destroy: () => agent.destroy() },
    sendUntil: (signal, operation, send) => calls.run({ signal, operation }, send),
  };
}
