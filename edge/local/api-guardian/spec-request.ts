import { EdgeError } from '../../edge-error.ts';
import { MAX_SPEC_BYTES } from './spec-tree.ts';

/** A specification to be read. */
export interface SpecRequest {
  readonly content: string;
  readonly enforceAuthorizationValidation: boolean | undefined;
}

/** Reads the body of a request for a new specification, which its schema has let through. Throws EdgeError that names the field. */
export function readSpecRequest(body: unknown): SpecRequest {
  const { content, enforceAuthorizationValidation } = body as SpecRequest;
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_SPEC_BYTES) {
    const message = `content: it has ${bytes} bytes; allowed: at most ${MAX_SPEC_BYTES}`;
    throw new EdgeError(413, 'apiGuardian.specification_too_large', message, { field: 'content' });
  }
  if (!content.isWellFormed()) {
    throw new EdgeError(400, 'request.invalid', 'content: it has half of a surrogate pair; allowed: Unicode text', { field: 'content' });
  }
  return { content, enforceAuthorizationValidation };
}
