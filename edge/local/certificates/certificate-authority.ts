import 'reflect-metadata';
import { createHash, createPublicKey } from 'node:crypto';
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
import { inTransaction } from '../state.ts';
import { KEY_ALGORITHM, newKeyPair, privateKeyFromPem, privateKeyPem } from './signing-key.ts';

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
/** RFC 5280: a common name has 64 characters at most; a longer host name stands in the alternative names alone. */
const MAX_COMMON_NAME = 64;
const AUTHORITY_NAME = [{ CN: ['shieldlog local authority'] }];

/** Who signs: an authority of this installation alone, which nobody trusts unless told to. */
export interface Authority {
  readonly keyPem: string;
  readonly certificatePem: string;
}

export interface IssuedCertificate {
  /** The certificate, then the authority's. */
  readonly chainPem: string;
  readonly keyPem: string;
  readonly serialNumber: string;
  readonly notAfterMs: number;
}

/** X.509 times have whole seconds. */
const wholeSecond = (ms: number): Date => new Date(Math.floor(ms / 1_000) * 1_000);

function readAuthority(db: DatabaseSync, nowMs: number): Authority | undefined {
  // One that ends before what it would sign is of no use.
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
  return { keyPem: await privateKeyPem(keys.privateKey), certificatePem: certificate.toString('pem') };
}

/** The authority kept in the state, made there where there is none. */
export async function openAuthority(db: DatabaseSync, nowMs: number): Promise<Authority> {
  const kept = readAuthority(db, nowMs);
  if (kept !== undefined) return kept;
  const notAfter = wholeSecond(nowMs + AUTHORITY_DAYS * DAY_MS);
  const made = await newAuthority(wholeSecond(nowMs), notAfter);
  return inTransaction(db, () => {
    // Another call may have been here in the meantime.
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

/** The thumbprint (RFC 7638) of the authority's key, which stands for the account that an HTTP-01 challenge is bound to. */
export function keyThumbprint({ certificatePem }: Authority): string {
  const { crv, kty, x, y } = createPublicKey(certificatePem).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

/** A server certificate of 90 days for one host name (lower case, ASCII), with a key of its own. */
export async function issueCertificate(authority: Authority, hostname: string, nowMs: number): Promise<IssuedCertificate> {
  const issuer = new X509Certificate(authority.certificatePem);
  const keys = await newKeyPair();
  const notAfter = wholeSecond(nowMs + CERTIFICATE_DAYS * DAY_MS);
  const hasName = hostname.length <= MAX_COMMON_NAME;
  const certificate = await X509CertificateGenerator.create({
    ...(hasName ? { subject: [{ CN: [hostname] }] } : {}),
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await privateKeyFromPem(authority.keyPem),
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
    keyPem: await privateKeyPem(keys.privateKey),
    serialNumber: certificate.serialNumber,
    notAfterMs: notAfter.getTime(),
  };
}
