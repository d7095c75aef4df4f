import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** Trusts the authorities in `pem` beside those that Node trusts by itself. Throws where it has no certificate. */
export function trustIn(pem: string): SecureContext {
  // The context itself takes any text, and then trusts nobody.
  new X509Certificate(pem);
  return createSecureContext({ ca: [...getCACertificates('default'), pem] });
}
