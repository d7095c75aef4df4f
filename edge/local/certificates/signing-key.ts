import type { webcrypto } from 'node:crypto';

/** Every key of the local authority and of what it signs: ECDSA on P-256 with SHA-256, which every client takes. */
export const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export async function newKeyPair(): Promise<webcrypto.CryptoKeyPair> {
  return await crypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

/** A private key as PEM (PKCS #8). */
export async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${base64.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
}

/** The private key that `privateKeyPem` wrote. */
export async function privateKeyFromPem(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  return await crypto.subtle.importKey('pkcs8', der, KEY_ALGORITHM, false, ['sign']);
}
