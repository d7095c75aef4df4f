import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';

const HOUR_MS = 3_600_000;

export interface TestCertificate {
  /** PEM. */
  readonly key: string;
  /** PEM; its own authority. */
  readonly cert: string;
}

/** A certificate for 127.0.0.1 and localhost that nobody trusts unless told to. */
export async function testCertificate(): Promise<TestCertificate> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    keys,
    signingAlgorithm: algorithm,
    // TLS takes the time from the system, which may be a day behind a moved clock.
    notBefore: new Date(Date.now() - 25 * HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: 'localhost' },
      ]),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, cert: certificate.toString('pem') };
}
