import { serialize } from 'node:v8';
import { EdgeError } from '../../edge-error.ts';
import { type OwnRequest, parseRequest } from './parse-request.ts';
import { StatementError } from './statement-error.ts';
import { type GivenSql, type StoredSql, type StreamPlan, withSqls } from './stream-plan.ts';

/** What a database process is to do. */
export interface PlanRequest {
  readonly kind: 'plan';
  /** As `serialize` of node:v8 writes a StreamPlan<GivenSql>: whoever hands it on has no work with it, however much it is. */
  readonly plan: Uint8Array;
  /** The stored texts that it needs, each once. */
  readonly names: readonly StoredSql[];
}

/** An item that is not what the protocol has; the others are run all the same. */
interface WrongRequest {
  readonly kind: 'wrong';
  readonly code: string;
  readonly message: string;
}

export type ReadRequest = OwnRequest | PlanRequest | WrongRequest;

/** The body of `POST /v2/pipeline`. */
export interface ReadPipeline {
  readonly baton: string | null;
  readonly requests: readonly ReadRequest[];
}

function planRequest(plan: StreamPlan<GivenSql>): PlanRequest {
  const names = new Map<number, StoredSql>();
  withSqls(plan, (sql) => {
    if (typeof sql !== 'string' && !names.has(sql.sqlId)) names.set(sql.sqlId, sql);
  });
  return { kind: 'plan', plan: serialize(plan), names: [...names.values()] };
}

function readRequest(wire: unknown, index: number): ReadRequest {
  try {
    const request = parseRequest(`requests[${index}]`, wire);
    const isOwn = request.kind === 'close' || request.kind === 'store-sql' || request.kind === 'close-sql';
    return isOwn ? request : planRequest(request);
  } catch (error) {
    if (error instanceof StatementError) return { kind: 'wrong', code: error.code, message: error.message };
    throw error;
  }
}

/** Throws EdgeError 400 where something is wrong with the body as a whole. */
export function readPipeline(body: unknown, maxRequests: number): ReadPipeline {
  const wrong = (field: string, message: string): EdgeError => new EdgeError(400, 'REQUEST_INVALID', `${field} ${message}`, { field });
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw wrong('the body', 'is not an object; allowed: {baton?, requests}');
  const { baton = null, requests } = body as Record<string, unknown>;
  if (baton !== null && typeof baton !== 'string') throw wrong('baton', 'is not a string; allowed: a string, or null');
  if (!Array.isArray(requests)) throw wrong('requests', 'is not a list; allowed: a list of requests');
  if (requests.length > maxRequests) throw wrong('requests', `has ${requests.length} items; allowed: up to ${maxRequests}`);
  return { baton, requests: requests.map(readRequest) };
}
