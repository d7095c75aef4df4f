import { OPENAPI_DOCUMENT } from './openapi-document.ts';

/** What of the program's configuration the document depends on. */
export interface ServedSettings {
  /** Whether access keys are configured. */
  readonly hasKeys: boolean;
  /** Whether the program listens on loopback. */
  readonly onLoopback: boolean;
}

/** Every example is about the hour before this, Unix ms UTC. */
const EXAMPLES_AT_MS = Date.UTC(2026, 0, 1, 1);

/** Times of that hour, as numbers or ISO 8601, also inside the text of lines. */
const EXAMPLE_NUMBER = /\b176722[5-9]\d{6}\b/g;
const EXAMPLE_TEXT = /\b2026-01-01T0[01]:\d\d:\d\d(?:\.\d+)?Z/g;

type Security = readonly Readonly<Record<string, readonly string[]>>[];

interface SecuredOperation {
  readonly operationId: string;
  readonly security?: Security;
}

type SecuredPaths = Readonly<Record<string, Readonly<Record<string, SecuredOperation>>>>;

/** Without access keys only the tokens of the database are asked for. `/metrics` needs a key only where other machines can read it. */
function securityOf(
  { operationId, security = OPENAPI_DOCUMENT.security }: SecuredOperation,
  { hasKeys, onLoopback }: ServedSettings,
): Security {
  const withoutKey = !hasKeys || (operationId === 'metrics' && onLoopback);
  return withoutKey ? security.filter((wanted) => Object.hasOwn(wanted, 'DatabaseToken')) : security;
}

function withSecurity(settings: ServedSettings): object {
  const { security: _, paths, ...rest } = OPENAPI_DOCUMENT;
  const secured = Object.entries(paths as SecuredPaths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [method, { ...operation, security: securityOf(operation, settings) }]),
    ),
  ]);
  return { ...rest, paths: Object.fromEntries(secured) };
}

/**
 * Makes the document as it holds for a program of these settings at `nowMs` (Unix ms UTC). The times of its examples lie in the hour
 * before, because a search looks back 72 hours at most. Each operation names the credentials that it needs; one that needs none has an
 * empty `security`.
 */
export function servedDocument(settings: ServedSettings): (nowMs: number) => Record<string, unknown> {
  const template = JSON.stringify(withSecurity(settings));
  return (nowMs) => {
    const byMs = nowMs - EXAMPLES_AT_MS;
    const text = template
      .replaceAll(EXAMPLE_NUMBER, (time) => String(Number(time) + byMs))
      .replaceAll(EXAMPLE_TEXT, (time) => new Date(Date.parse(time) + byMs).toISOString());
    return JSON.parse(text) as Record<string, unknown>;
  };
}
