import { EdgeError } from '../../edge-error.ts';
import { shown } from '../../shown-value.ts';
import { inPlaneTransaction } from '../control-plane-state.ts';
import type { LocalContext, LocalResource } from '../local-resource.ts';
import { findHostname, type Hostname, setCertificate } from '../pull-zones.ts';
import { AUTHORITY_MIGRATION, issueCertificate, keyThumbprint, openAuthority } from './certificate-authority.ts';
import type { ChallengeResolver } from './http-challenge.ts';
import { addChallenge, CHALLENGE_FOLDER, CHALLENGE_MIGRATION, pendingChallenge, removeChallenge, servedContent } from './http-challenge.ts';

const CERTIFICATE_MIGRATION = `
  CREATE TABLE issued_certificate (
    serial_number TEXT PRIMARY KEY,
    pull_zone_id INTEGER NOT NULL,
    hostname TEXT NOT NULL,
    chain_pem TEXT NOT NULL,
    key_pem TEXT NOT NULL,
    issued_ms INTEGER NOT NULL,
    not_after_ms INTEGER NOT NULL
  ) STRICT;
`;

interface HostnameBody {
  readonly Body: { readonly Hostname: string };
}

const fault = (status: number, key: string, message: string): EdgeError => new EdgeError(status, key, message, { field: 'Hostname' });

function requireHostname({ db }: LocalContext, given: string): Hostname {
  const found = findHostname(db, given);
  if (found === null) throw fault(404, 'hostname.not_found', `Hostname: no pull zone has the hostname ${shown(given, 255)}`);
  if (found.name.startsWith('*')) {
    // A file proves one name, and not the names below it (RFC 8555, 7.1.3 and 8.3).
    throw fault(400, 'hostname.wildcard', `Hostname: ${found.name} is a wildcard; allowed: a hostname without a star, for HTTP challenges`);
  }
  return found;
}

const noChallenge = (name: string): EdgeError =>
  fault(400, 'certificate.no_challenge', `Hostname: no challenge is pending for ${name}; request one first`);

async function complete(context: LocalContext, resolver: ChallengeResolver, given: string): Promise<void> {
  const { db, now } = context;
  const hostname = requireHostname(context, given);
  const challenge = pendingChallenge(db, hostname, now());
  if (challenge === undefined) throw noChallenge(hostname.name);
  const answer = await resolver(hostname.name, `${CHALLENGE_FOLDER}${challenge.token}`);
  // White space at the end is ignored (RFC 8555, 8.3).
  if (answer.kind === 'nothing' || answer.content.trimEnd() !== challenge.content) {
    const reason = answer.kind === 'nothing' ? answer.reason : 'the file has another content';
    throw fault(
      400,
      'certificate.not_verified',
      `Hostname: ${hostname.name} does not serve ${CHALLENGE_FOLDER}${challenge.token}: ${reason}`,
    );
  }
  const nowMs = now();
  const issued = await issueCertificate(await openAuthority(db, nowMs), hostname.name, nowMs);
  inPlaneTransaction(db, () => {
    // Another call may have completed it meanwhile, or removed the hostname.
    requireHostname(context, given);
    if (!removeChallenge(db, challenge)) throw noChallenge(hostname.name);
    db.prepare('INSERT INTO issued_certificate VALUES (?, ?, ?, ?, ?, ?, ?)').run(
      issued.serialNumber,
      hostname.pullZoneId,
      hostname.name,
      issued.chainPem,
      issued.keyPem,
      nowMs,
      issued.notAfterMs,
    );
    setCertificate(db, hostname, issued.notAfterMs);
  });
  context.logger.info({ hostname: hostname.name, serialNumber: issued.serialNumber }, 'Certificate issued');
}

/**
 * Answers operations 6 and 7: certificates for hostnames whose owner has proved them over HTTP, with a challenge by operation 6 and a
 * certificate of the local authority by operation 7.
 * Challenges are looked up by `resolver`; null: among the files that the local control plane itself serves.
 */
export function externalCertificates(resolver: ChallengeResolver | null): LocalResource {
  return {
    name: 'external-certificates',
    migrations: [`${AUTHORITY_MIGRATION}${CHALLENGE_MIGRATION}${CERTIFICATE_MIGRATION}`],
    routes(app, context) {
      const { db, now } = context;
      const ownAnswer: ChallengeResolver = (_, filePath) => {
        const content = servedContent(db, filePath.slice(CHALLENGE_FOLDER.length), now());
        return Promise.resolve(content === undefined ? { kind: 'nothing', reason: 'there is no such file' } : { kind: 'content', content });
      };
      app.post<HostnameBody>('/pullzone/requestExternalHttpCertificate', async ({ body }) => {
        const hostname = requireHostname(context, body.Hostname);
        const thumbprint = keyThumbprint(await openAuthority(db, now()));
        const challenge = inPlaneTransaction(
          db,
          () => pendingChallenge(db, hostname, now()) ?? addChallenge(db, hostname, thumbprint, now()),
        );
        return { FilePath: `${CHALLENGE_FOLDER}${challenge.token}`, FileContent: challenge.content };
      });
      app.post<HostnameBody>('/pullzone/completeExternalHttpCertificate', async ({ body }, reply) => {
        await complete(context, resolver ?? ownAnswer, body.Hostname);
        return reply.code(200).send();
      });
      app.get<{ Params: { token: string } }>(`${CHALLENGE_FOLDER}:token`, (request, reply) => {
        const content = servedContent(db, request.params.token, now());
        return content === undefined ? reply.callNotFound() : reply.type('application/octet-stream').send(content);
      });
    },
  };
}
