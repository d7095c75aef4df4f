import { createHash, createPrivateKey, createPublicKey, KeyObject, type webcrypto } from 'node:crypto';
import 'reflect-metadata';
import type { DatabaseSync } from 'node:sqlite';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { inPlaneTransaction } from '../control-plane-state.ts';

/** The algorithm of all keys: ECDSA on P-256 with SHA-256, which every client supports. */
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

async function newKeyPair(): Promise<webcrypto.CryptoKeyPair> {
  return await crypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

/** A private key as PEM (PKCS #8). */
function privateKeyPem(key: webcrypto.CryptoKey): string {
  return String(KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }));
}

export const AUTHORITY_MIGRATION = `
  CREATE TABLE certificate_authority (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key_pem TEXT NOT NULL,
    certificate_pem TEXT NOT NULL,
    not_after_ms INTEGER NOT NULL
  ) STRICT;
`;

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const CERTIFICATE_DAYS = 90;
/** A common name has 64 characters at most (RFC 5280). A longer host name is only in the alternative names. */
const MAX_COMMON_NAME = 64;
const AUTHORITY_NAME = [{ CN: ['shieldlog local authority'] }];

/** The certificate authority of this installation. Nobody trusts it by default. */
interface Authority {
  readonly keyPem: string;
  readonly certificatePem: string;
}

interface IssuedCertificate {
  /** The certificate, then the authority's. */
  readonly chainPem: string;
  readonly keyPem: string;
  readonly serialNumber: string;
  readonly notAfterMs: number;
}

/** X.509 times have whole seconds. */
const wholeSecond = (ms: number): Date => new Date(Math.floor(ms / 1_000) * 1_000);

function readAuthority(db: DatabaseSync, nowMs: number): Authority | undefined {
  // An authority that expires before the certificates that it would sign is of no use.
  const row = db
    .prepare('SELECT key_pem, certificate_pem FROM certificate_authority WHERE not_after_ms > ? ORDER BY id LIMIT 1')
    .get(nowMs + CERTIFICATE_DAYS * DAY_MS);
  return row === undefined ? undefined : { keyPem: String(row['key_pem']), certificatePem: String(row['certificate_pem']) };
}

async function newAuthority(notBefore: Date, notAfter: Date): Promise<Authority> {
  const keys = await newKeyPair();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: AUTHORITY_NAME,
    keys,
    notBefore,
    notAfter,
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { keyPem: privateKeyPem(keys.privateKey), certificatePem: certificate.toString('pem') };
}

/** Reads the authority from the state, or makes it there. */
export async function openAuthority(db: DatabaseSync, nowMs: number): Promise<Authority> {
  const kept = readAuthority(db, nowMs);
  if (kept !== undefined) return kept;
  const notAfter = wholeSecond(nowMs + AUTHORITY_DAYS * DAY_MS);
  const made = await newAuthority(wholeSecond(nowMs), notAfter);
  return inPlaneTransaction(db, () => {
    // Another call may have made it meanwhile.
    const earlier = readAuthority(db, nowMs);
    if (earlier !== undefined) return earlier;
    db.prepare('INSERT INTO certificate_authority (key_pem, certificate_pem, not_after_ms) VALUES (?, ?, ?)').run(
      made.keyPem,
      made.certificatePem,
      notAfter.getTime(),
    );
    return made;
  });
}

/** The thumbprint (RFC 7638) of the authority's key, which HTTP-01 challenges are bound to. */
export function keyThumbprint({ certificatePem }: Authority): string {
  const { crv, kty, x, y } = createPublicKey(certificatePem).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

/** Issues a server certificate of 90 days for one host name (lower case, ASCII), with a new key. */
export async function issueCertificate(authority: Authority, hostname: string, nowMs: number): Promise<IssuedCertificate> {
  const issuer = new X509Certificate(authority.certificatePem);
  const keys = await newKeyPair();
  const notAfter = wholeSecond(nowMs + CERTIFICATE_DAYS * DAY_MS);
  const hasName = hostname.length <= MAX_COMMON_NAME;
  const certificate = await X509CertificateGenerator.create({
    ...(hasName ? { subject: [{ CN: [hostname] }] } : {}),
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(authority.keyPem).toCryptoKey(KEY_ALGORITHM, false, ['sign']),
    signingAlgorithm: KEY_ALGORITHM,
    notBefore: wholeSecond(nowMs),
    notAfter,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: hostname }], !hasName),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return {
    chainPem: `${certificate.toString('pem')}\n${authority.certificatePem}\n`,
    keyPem: privateKeyPem(keys.privateKey),
    serialNumber: certificate.serialNumber,
    notAfterMs: notAfter.getTime(),
  };
}
