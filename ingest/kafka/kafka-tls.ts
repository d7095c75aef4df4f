import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { getSystemErrorMessage } from 'node:util';

/** Paths of PEM files; null where a file is not given. A certificate needs a key, and a key needs a certificate. */
export interface KafkaTls {
  /** The authorities of the brokers' certificates; null: Node's own. */
  readonly caFile: string | null;
  /** This client's certificate, followed by the intermediate ones. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
  /** For an encrypted key. */
  readonly keyPassphrase: string | null;
}

/** The files cannot be used. Each fault is a line that names a variable, its file and the reason. */
export class KafkaTlsError extends Error {
  override readonly name = 'KafkaTlsError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The reason why a file cannot be used, in words that follow its name. */
class FileFault extends Error {}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException;
    throw new FileFault(`cannot be read: ${errno === undefined ? message : getSystemErrorMessage(errno)}; allowed: the path of a PEM file`);
  }
}

function certificatesIn(path: string): readonly X509Certificate[] {
  const blocks = textOf(path).match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new FileFault('holds no certificate; allowed: certificates as PEM, -----BEGIN CERTIFICATE-----');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new FileFault(`holds something else as certificate ${index + 1} of ${blocks.length}; allowed: certificates as PEM`);
    }
  });
}

function keyIn(path: string, passphrase: string | null): KeyObject {
  const key = textOf(path);
  const encrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(key);
  if (encrypted && passphrase === null) throw new FileFault('is encrypted; set KAFKA_TLS_KEY_PASSPHRASE, or give a key that is not');
  try {
    return createPrivateKey(passphrase === null ? { key } : { key, passphrase });
  } catch {
    // OpenSSL's message is not shown, because it names OpenSSL's source files.
    if (encrypted) throw new FileFault('cannot be opened with KAFKA_TLS_KEY_PASSPHRASE');
    throw new FileFault('holds no private key; allowed: a private key as PEM, such as -----BEGIN PRIVATE KEY-----');
  }
}

/**
 * Reads the files, and checks that the key belongs to the certificate. A kafkajs client keeps what was read when it was made, so renewed
 * files take effect with the next client. Throws KafkaTlsError.
 */
export function readKafkaTls({ caFile, certFile, keyFile, keyPassphrase }: KafkaTls): ConnectionOptions {
  const faults: string[] = [];
  const read = <T>(name: string, path: string | null, from: (path: string) => T): T | null => {
    if (path === null) return null;
    try {
      return from(path);
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      faults.push(`${name}=${JSON.stringify(path)} ${error.message}`);
      return null;
    }
  };
  const authorities = read('KAFKA_TLS_CA_FILE', caFile, certificatesIn);
  const chain = read('KAFKA_TLS_CERT_FILE', certFile, certificatesIn);
  const key = read('KAFKA_TLS_KEY_FILE', keyFile, (path) => keyIn(path, keyPassphrase));
  if (chain !== null && key !== null && chain[0]?.checkPrivateKey(key) === false) {
    const allowed = 'allowed: the key of the first certificate in that file';
    faults.push(
      `KAFKA_TLS_KEY_FILE=${JSON.stringify(keyFile)} is not the key of KAFKA_TLS_CERT_FILE=${JSON.stringify(certFile)}; ${allowed}`,
    );
  }
  if (faults.length > 0) throw new KafkaTlsError(faults);
  return {
    ...(authorities === null ? {} : { ca: authorities.map(String) }),
    ...(chain === null || key === null ? {} : { cert: chain.map(String).join(''), key: key.export({ type: 'pkcs8', format: 'pem' }) }),
  };
}
