import 'reflect-metadata';
import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  type JsonGeneralNames,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface CertificateFiles {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
  /** PEM, PKCS #8, encrypted with `PASSPHRASE`. */
  readonly encryptedKey: string;
}

export const PASSPHRASE = 'open sesame';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

export interface CertificateChoices {
  readonly names?: JsonGeneralNames;
  /** Valid from an hour before it until it, in ms from now. */
  readonly expiresInMs?: number;
}

/** An authority of tests. */
export interface TestAuthority {
  /** PEM. */
  readonly cert: string;
  issue(subject: string, choices?: CertificateChoices): Promise<CertificateFiles>;
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
}

const pem = (certificate: X509Certificate): string => `${certificate.toString('pem')}\n`;

export async function testAuthority(subject: string): Promise<TestAuthority> {
  const keys = await newKeys();
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - 2 * HOUR_MS),
    notAfter: new Date(Date.now() + 24 * HOUR_MS),
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return {
    cert: pem(authority),
    issue: async (name, { names = [], expiresInMs = 24 * HOUR_MS } = {}) => {
      const own = await newKeys();
      const certificate = await X509CertificateGenerator.create({
        serialNumber: randomBytes(8).toString('hex'),
        subject: name,
        issuer: authority.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        notBefore: new Date(Math.min(Date.now(), Date.now() + expiresInMs) - HOUR_MS),
        notAfter: new Date(Date.now() + expiresInMs),
        extensions: names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)],
      });
      const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey));
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      return {
        cert: pem(certificate),
        key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
        encryptedKey: key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE }).toString(),
      };
    },
  };
}
