import { exactly, ID, input, TEXT } from './json-schema.ts';
import { defineOperation, type ErrorExample, type OperationGroup } from './operation.ts';

const HOSTNAME_INPUT = input({ Hostname: { type: 'string', minLength: 1 } }, ['Hostname']);

/** The file by which a certificate authority sees who serves the hostname (HTTP-01). */
const HTTP_CHALLENGE = exactly({ FilePath: TEXT, FileContent: TEXT });

const PULL_ZONES_ROW = { key: 'access', errorShape: 'legacy', body: HOSTNAME_INPUT, idempotent: false } as const;

const HOSTNAME = { Hostname: 'shop.example.com' };

const UNKNOWN_HOSTNAME: ErrorExample = {
  key: 'hostname.not_found',
  field: 'Hostname',
  message: 'Hostname: no pull zone has the hostname "nobody.example.com"',
  request: { body: { Hostname: 'nobody.example.com' } },
};

const TOKEN = 'haIQyxwmwkfPxC3kUV-L_r_dKvusAYtH3UxirHiypyo';
const FILE = `${TOKEN}.roAMRxUVq1Z9OUQyoxe-glNI3uKaEjMwNXK0Bij0CuU`;

export const PULL_ZONES: OperationGroup = {
  tag: 'Pull zones',
  about: 'Hostnames and their certificates',
  schemas: { HostnameRequest: HOSTNAME_INPUT, HttpChallenge: HTTP_CHALLENGE },
  operations: [
    defineOperation({
      ...PULL_ZONES_ROW,
      number: 6,
      name: 'requestExternalHttpCertificate',
      summary: 'Request an external HTTP certificate for a hostname of a pull zone',
      method: 'POST',
      path: '/pullzone/requestExternalHttpCertificate',
      params: {},
      answer: HTTP_CHALLENGE,
      errors: { 404: UNKNOWN_HOSTNAME },
      example: { body: HOSTNAME, answer: { FilePath: `/.well-known/acme-challenge/${TOKEN}`, FileContent: FILE } },
    }),
    defineOperation({
      ...PULL_ZONES_ROW,
      number: 7,
      name: 'completeExternalHttpCertificate',
      summary: 'Complete the external HTTP certificate of a hostname, once its challenge is served',
      method: 'POST',
      path: '/pullzone/completeExternalHttpCertificate',
      params: {},
      answer: null,
      errors: {
        400: {
          key: 'certificate.no_challenge',
          field: 'Hostname',
          message: 'Hostname: no challenge is pending for shop.example.com; request one first',
        },
        404: UNKNOWN_HOSTNAME,
      },
      // The challenge is looked up while the caller waits.
      deadlines: { headersMs: 45_000, bodyMs: 15_000 },
      example: { body: HOSTNAME, after: 'requestExternalHttpCertificate' },
    }),
    defineOperation({
      ...PULL_ZONES_ROW,
      number: 8,
      name: 'removeHostname',
      summary: 'Remove a custom hostname from a pull zone',
      method: 'DELETE',
      path: '/pullzone/:id/removeHostname',
      params: { id: ID },
      status: 204,
      answer: null,
      errors: {
        404: { key: 'pullZone.not_found', field: 'id', message: 'There is no pull zone 9999', request: { params: { id: 9999 } } },
      },
      example: { params: { id: 1 }, body: { Hostname: 'cdn.example.com' } },
    }),
  ],
  companions: [
    // Certificate authorities fetch the file of operation 6 under the hostname itself (RFC 8555, 8.3). Only the local control plane has
    // such files.
    defineOperation({
      number: 6,
      name: 'getHttpChallenge',
      summary: 'Read the file that shows who holds a hostname, as those do who verify it (RFC 8555, 8.3)',
      method: 'GET',
      path: '/.well-known/acme-challenge/:token',
      upstream: 'local',
      key: 'none',
      anyHost: true,
      errorShape: 'problem',
      params: { token: TEXT },
      answerType: 'application/octet-stream',
      answer: TEXT,
      errorStatuses: [400, 404, 500, 503],
      errors: {
        400: {
          key: 'request.malformed',
          message: '/.well-known/acme-challenge/%ff is not a path: each % must begin an escape such as %2F, and the escapes must be UTF-8',
        },
        404: {
          key: 'route.not_found',
          message: 'There is nothing at GET /.well-known/acme-challenge/unknown',
          request: { params: { token: 'unknown' } },
        },
      },
      idempotent: true,
      example: { params: { token: TOKEN }, answer: FILE },
    }),
  ],
};
