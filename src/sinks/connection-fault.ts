/** OpenSSL's own words between its places in the source: `…:SSL routines:some_function:wrong version number:some/file.c:77:`. */
function tlsFault(message: string): string | null {
  return /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? null;
}

const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Several addresses were tried: the first one's fault says as much as all of them. */
function firstOf(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
}

/** One line on why the connection to `place` did not do. */
export function connectionFault(place: string, thrown: Error): string {
  const error = firstOf(thrown);
  if (error.code === 'ECONNREFUSED') return `nothing is listening at ${place}`;
  if (UNTRUSTED.has(error.code ?? '')) return `the certificate of ${place} is not trusted (${error.message}); name its authority with --ca`;
  const fault = tlsFault(error.message);
  if (fault === 'wrong version number' || fault === 'packet length too long') return `what listens at ${place} does not speak TLS`;
  return `the connection to ${place} failed: ${fault ?? (error.message || error.code)}`;
}
