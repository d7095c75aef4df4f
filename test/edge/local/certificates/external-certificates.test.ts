import { createHash, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ConnectionOptions, connect, createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { externalCertificates } from '../../../../edge/local/certificates/external-certificates.ts';
import type { ChallengeResolver } from '../../../../edge/local/certificates/http-challenge.ts';
import { pullZones } from '../../../../edge/local/pull-zones.ts';
import { type ResourcePlane, startPlane } from '../dns/resource-plane.ts';

const DAY_MS = 86_400_000;
const LONG_NAME = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`;

let plane: ResourcePlane;
/** What the hostnames serve; undefined: the answer of the control plane itself. */
let served: ChallengeResolver | undefined;
/** The content that they should serve. */
let expected = '';

function start(dataDir?: string): Promise<ResourcePlane> {
  return startPlane([pullZones, externalCertificates(served ?? null)], dataDir);
}

beforeEach(async () => {
  served = undefined;
  plane = await start();
  plane.db.prepare('INSERT INTO hostname (name, pull_zone_id, is_system) VALUES (?, 1, 0)').run(LONG_NAME);
});

afterEach(() => plane.stop());

const request = (Hostname: unknown, on = plane) => on.call(6, {}, { Hostname });
const complete = (Hostname: unknown, on = plane) => on.call(7, {}, { Hostname });
const issued = (on = plane) => on.db.prepare('SELECT * FROM issued_certificate').all();

/** The one certificate that has been issued, and the authority's. */
function onlyChain(): { leaf: X509Certificate; authority: X509Certificate; keyPem: string; pems: string[] } {
  const [row, ...more] = issued();
  expect(more).toEqual([]);
  const pems = String(row?.['chain_pem']).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const [leaf = '', authority = ''] = pems;
  return { leaf: new X509Certificate(leaf), authority: new X509Certificate(authority), keyPem: String(row?.['key_pem']), pems };
}

describe('the challenge', () => {
  test('is a file whose content is bound to the key of the authority', async () => {
    const { status, body } = await request('www.example.com');
    expect(status).toBe(200);
    const [, token, thumbprint] = /^([\w-]{43})\.([\w-]{43})$/.exec(body.FileContent) ?? [];
    expect(body.FilePath).toBe(`/.well-known/acme-challenge/${token}`);
    await complete('www.example.com');
    const { crv, kty, x, y } = onlyChain().authority.publicKey.export({ format: 'jwk' });
    expect(thumbprint).toBe(createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url'));
  });

  test('is served by the control plane itself until it is answered', async () => {
    const { body } = await request('www.example.com');
    expect((await plane.app.inject(body.FilePath)).body).toBe(body.FileContent);
    expect((await plane.app.inject(`${body.FilePath}x`)).statusCode).toBe(404);
    await complete('www.example.com');
    expect((await plane.app.inject(body.FilePath)).statusCode).toBe(404);
  });

  test('stays the same while it is pending, for every way to write the name, and is another one afterwards', async () => {
    const first = (await request('www.example.com')).body;
    expect((await request('WWW.example.COM')).body).toEqual(first);
    await complete('www.example.com');
    expect((await request('www.example.com')).body.FilePath).not.toBe(first.FilePath);
  });

  test('ends after seven days', async () => {
    const first = (await request('www.example.com')).body;
    plane.nowMs += 7 * DAY_MS;
    expect((await plane.app.inject(first.FilePath)).statusCode).toBe(404);
    expect((await complete('www.example.com')).body.ErrorKey).toBe('certificate.no_challenge');
    expect((await request('www.example.com')).body.FilePath).not.toBe(first.FilePath);
  });

  test('is pending still after the program was started again', async () => {
    const first = (await request('www.example.com')).body;
    const again = await start(plane.dataDir);
    try {
      expect((await request('www.example.com', again)).body).toEqual(first);
      expect((await complete('www.example.com', again)).status).toBe(200);
    } finally {
      await again.stop();
    }
  });
});

describe.each([
  ['requested', request],
  ['completed', complete],
])('a certificate that is %s', (_, call) => {
  test.each([
    ['', 400, 'request.invalid'],
    [undefined, 400, 'request.invalid'],
    [7, 400, 'request.invalid'],
    ['unknown.example.com', 404, 'hostname.not_found'],
    ['*.blog.example.org', 400, 'hostname.wildcard'],
  ])('for the hostname %j is answered with %i', async (hostname, status, key) => {
    const answer = await call(hostname);
    expect([answer.status, answer.body.ErrorKey, answer.body.Field]).toEqual([status, key, 'Hostname']);
  });
});

describe('the certificate', () => {
  test('is for the hostname, for 90 days, with a key of its own, and signed by the authority', async () => {
    await request('www.example.com');
    expect(await complete('www.example.com')).toEqual({ status: 200, body: null });
    const { leaf, authority, keyPem } = onlyChain();
    expect(leaf.checkHost('www.example.com')).toBe('www.example.com');
    expect(leaf.checkHost('example.com')).toBeUndefined();
    expect([leaf.ca, authority.ca]).toEqual([false, true]);
    expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
    expect(authority.verify(authority.publicKey)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect([Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]).toEqual([plane.nowMs, plane.nowMs + 90 * DAY_MS]);
    const noted = plane.db.prepare('SELECT name, certificate_not_after_ms AS ms FROM hostname WHERE ms IS NOT NULL').all();
    expect(noted).toEqual([{ name: 'www.example.com', ms: plane.nowMs + 90 * DAY_MS }]);
  });

  test.each(['www.example.com', LONG_NAME])('of %s is taken in a TLS handshake by whoever trusts the authority', async (name) => {
    // TLS goes by the machine's clock, which may be a day behind a moved one.
    plane.nowMs = Date.now() - 2 * DAY_MS;
    await request(name);
    await complete(name);
    const { pems, keyPem } = onlyChain();
    const server = createServer({ cert: pems[0] ?? '', key: keyPem }, (socket) => socket.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const greet = async (options: ConnectionOptions): Promise<boolean> => {
      const socket = connect({ host: '127.0.0.1', port, servername: name, ...options });
      await once(socket, 'secureConnect');
      socket.destroy();
      return socket.authorized;
    };
    try {
      expect(await greet({ ca: pems[1] ?? '' })).toBe(true);
      await expect(greet({ ca: pems[1] ?? '', servername: 'other.example.com' })).rejects.toThrow(/altnames/);
      await expect(greet({})).rejects.toThrow(/verify/);
    } finally {
      server.close();
    }
  });

  test('names the host in its subject only where that has 64 characters at most', async () => {
    for (const name of ['www.example.com', LONG_NAME]) {
      await request(name);
      await complete(name);
    }
    const leaves = issued().map((row) => new X509Certificate(String(row['chain_pem'])));
    expect(leaves.map(({ subject }) => subject)).toEqual(['CN=www.example.com', undefined]);
    expect(leaves.map(({ subjectAltName }) => subjectAltName)).toEqual(['DNS:www.example.com', `DNS:${LONG_NAME}`]);
  });

  test('is signed by the same authority every time, until that ends too soon', async () => {
    const authorityNow = async () => {
      await request('www.example.com');
      await complete('www.example.com');
      return String(issued().at(-1)?.['chain_pem']).split('-----END CERTIFICATE-----')[1];
    };
    const first = await authorityNow();
    plane.nowMs += 3_500 * DAY_MS;
    expect(await authorityNow()).toBe(first);
    plane.nowMs += 100 * DAY_MS;
    expect(await authorityNow()).not.toBe(first);
  });

  test('has one authority where two are first at once', async () => {
    await Promise.all([request('www.example.com'), request(LONG_NAME)]);
    expect(plane.db.prepare('SELECT count(*) AS n FROM certificate_authority').get()?.['n']).toBe(1);
  });

  test('has a key that no other has', async () => {
    for (const name of ['www.example.com', LONG_NAME]) {
      await request(name);
      await complete(name);
    }
    const keys = issued().map((row) => createPublicKey(String(row['chain_pem'])).export({ format: 'der', type: 'spki' }).toString('hex'));
    expect(new Set(keys).size).toBe(2);
  });

  test('is not there without a challenge, and once for a challenge that many complete at once', async () => {
    expect((await complete('www.example.com')).body.ErrorKey).toBe('certificate.no_challenge');
    await request('www.example.com');
    const answers = await Promise.all([1, 2, 3].map(() => complete('www.example.com')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect(issued()).toHaveLength(1);
  });

  test('is not there when the hostname went while the challenge was looked at', async () => {
    await request('www.example.com');
    served = async () => {
      plane.db.exec('DELETE FROM hostname');
      return { kind: 'content', content: expected };
    };
    const again = await start(plane.dataDir);
    try {
      expected = (await request('www.example.com', again)).body.FileContent;
      expect((await complete('www.example.com', again)).status).toBe(404);
      expect(issued()).toEqual([]);
    } finally {
      await again.stop();
    }
  });
});

describe('a configured resolver', () => {
  test.each<[string, (content: string) => Awaited<ReturnType<ChallengeResolver>>, number]>([
    ['that finds the content', (content) => ({ kind: 'content', content }), 200],
    ['that finds the content and a line break', (content) => ({ kind: 'content', content: `${content}\r\n` }), 200],
    ['that finds another content', (content) => ({ kind: 'content', content: `x${content}` }), 400],
    ['that finds an empty file', () => ({ kind: 'content', content: '' }), 400],
    ['that finds nothing', () => ({ kind: 'nothing', reason: 'there was no answer' }), 400],
  ])('%s decides', async (_, answer, status) => {
    const asked: string[][] = [];
    served = (...what) => {
      asked.push(what);
      return Promise.resolve(answer(expected));
    };
    const again = await start(plane.dataDir);
    try {
      const challenge = (await request('www.example.com', again)).body;
      expected = challenge.FileContent;
      const answered = await complete('www.example.com', again);
      expect(answered.status).toBe(status);
      expect(asked).toEqual([['www.example.com', challenge.FilePath]]);
      if (status === 200) return;
      expect(answered.body.ErrorKey).toBe('certificate.not_verified');
      // The challenge is still there to be answered.
      expect((await request('www.example.com', again)).body).toEqual(challenge);
      expect(issued()).toEqual([]);
    } finally {
      await again.stop();
    }
  });
});
