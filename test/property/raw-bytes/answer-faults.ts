import { PROBLEMS } from '../../../src/http/problem.ts';
import { DESCRIBED_OPERATIONS, undescribed } from '../../src/openapi/document-check.ts';
import type { Case } from './arbitrary-wire-request.ts';
import type { WireAnswer } from './wire-answers.ts';

/** Error keys that the program answers before it knows the operation. */
const BEFORE_ROUTES: readonly string[] = [
  'request.malformed',
  'route.not_found',
  'route.method_not_allowed',
  'route.not_implemented',
  'header.too_large',
  'expect.unsupported',
  'access.key_missing',
  'access.key_unknown',
];

/** Statuses of requests whose body nobody waits for: at doors, and beneath their paths, in their words. */
const BEFORE_BODIES: readonly number[] = [404, 405, 417];

function isRefusalBeforeRoutes({ status, headers, text }: WireAnswer): boolean {
  if (headers.get('content-type') !== 'application/problem+json; charset=utf-8') return false;
  const { errorKey, status: told, detail } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const key = BEFORE_ROUTES.find((known) => known === errorKey) as keyof typeof PROBLEMS | undefined;
  return key !== undefined && PROBLEMS[key].status === status && told === status && typeof detail === 'string';
}

/** The page and its files. */
function isOfThePage({ status, headers }: WireAnswer): boolean {
  return status === 200 && /^(text\/(html|css|javascript)|image\/)/.test(headers.get('content-type') ?? '');
}

/** Returns the faults of an answer to a case. `isFirst` is false for answers to the bytes that follow the request. */
export function answerFaults(
  { operationId, isForRoute }: Pick<Case, 'operationId' | 'isForRoute'>,
  answer: WireAnswer,
  isFirst: boolean,
): readonly unknown[] {
  if (!answer.isWhole) return [];
  if (answer.headers.get('x-content-type-options') !== 'nosniff') return ['the answer has no security headers'];
  if (answer.status >= 500 && answer.status !== 501 && answer.status !== 503) return [`the status ${answer.status} tells of a defect`];
  if (answer.isToHead) return [];
  const own = DESCRIBED_OPERATIONS.filter((operation) => operation.operationId === operationId).flatMap((operation) =>
    undescribed(operation, answer),
  );
  if (own.length === 0 || isRefusalBeforeRoutes(answer)) return [];
  if (isForRoute && isFirst) return own;
  // These and wrong framing are refused in the error shape of the operation.
  const statuses = BEFORE_BODIES.includes(answer.status) ? [answer.status, 400] : [answer.status];
  const isDescribed = DESCRIBED_OPERATIONS.some((operation) =>
    statuses.some((status) => undescribed(operation, { ...answer, status }).length === 0),
  );
  if (isOfThePage(answer) || isDescribed) return [];
  return own;
}
