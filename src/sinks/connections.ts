import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** Trusts the authorities in `pem` in addition to Node's own. Throws where `pem` holds no certificate. */
export function trustIn(pem: string): SecureContext {
  // createSecureContext accepts any text, and would then trust nobody.
  new X509Certificate(pem);
  return createSecureContext({ ca: [...getCACertificates('default'), pem] });
}

/**
 * The reason in a message of OpenSSL, such as `write EPROTO 40A7…:SSL routines:some_function:wrong version number:some/file.c:77:`; null
 * in any other message.
 */
function tlsFault(message: string): string | null {
  return /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? null;
}

/** Whether a fault of TLS says that the other side does not use TLS. */
function isWithoutTls(fault: string | null): boolean {
  return fault === 'wrong version number' || fault === 'packet length too long';
}

const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** After attempts at several addresses, the error of the first one. */
function firstError(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
}

/** Says in one line why a connection failed. `address` is how messages name the other side, `caSetting` what names an authority. */
export function connectionFault(address: string, thrown: Error, caSetting = '--ca'): string {
  const error = firstError(thrown);
  if (error.code === 'ECONNREFUSED') return `nothing is listening at ${address}`;
  if (UNTRUSTED.has(error.code ?? ''))
    return `the certificate of ${address} is not trusted (${error.message}); name its authority with ${caSetting}`;
  const fault = tlsFault(error.message);
  if (isWithoutTls(fault)) return `what listens at ${address} does not speak TLS`;
  if (error.code?.startsWith('HPE_') === true) return `what listens at ${address} does not speak HTTP (${error.message})`;
  return `the connection to ${address} failed: ${fault ?? (error.message || error.code)}`;
}
