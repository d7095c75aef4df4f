import { EdgeError } from '../../edge-error.ts';
import { MAX_SPEC_BYTES } from './spec-tree.ts';

/** A specification to be read. */
export interface SpecRequest {
  readonly content: string;
  readonly enforceAuthorizationValidation: boolean | undefined;
}

const invalid = (field: string, message: string): EdgeError => new EdgeError(400, 'request.invalid', `${field}: ${message}`, { field });

/** Reads the body of a request for a new specification. Throws EdgeError that names the field. */
export function readSpecRequest(body: unknown): SpecRequest {
  const { content, enforceAuthorizationValidation: enforce }: Readonly<Record<string, unknown>> =
    typeof body === 'object' && body !== null ? { ...body } : {};
  if (typeof content !== 'string') throw invalid('content', 'it is not text; allowed: an OpenAPI 3.0 or 3.1 specification as JSON or YAML');
  if (enforce !== undefined && typeof enforce !== 'boolean') {
    throw invalid('enforceAuthorizationValidation', 'it is not taken; allowed: true, false, or absent, which keeps what each endpoint has');
  }
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_SPEC_BYTES) {
    const message = `content: it has ${bytes} bytes; allowed: at most ${MAX_SPEC_BYTES}`;
    throw new EdgeError(413, 'apiGuardian.specification_too_large', message, { field: 'content' });
  }
  if (!content.isWellFormed()) throw invalid('content', 'it has half of a surrogate pair; allowed: Unicode text');
  return { content, enforceAuthorizationValidation: enforce };
}
