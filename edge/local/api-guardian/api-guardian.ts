import { bodyAs } from '../../body-thread.ts';
import { EdgeError } from '../../edge-error.ts';
import { inPlaneTransaction } from '../control-plane-state.ts';
import type { LocalResource } from '../local-resource.ts';
import { shieldSuccess } from '../local-resource.ts';
import { GUARDIAN_MIGRATION, guardianAnswer, storeSpec } from './endpoint-store.ts';
import type { ReadSpec } from './read-spec.ts';
import { readSpecRequest } from './spec-request.ts';
import { createSpecReader, type SpecReader, type SpecReaderOptions } from './spec-thread.ts';

/** A specification of 2 MB of YAML takes about two seconds and 200 MB. */
const READER: SpecReaderOptions = { deadlineMs: 8_000, memoryMb: 512, maxWaiting: 4 };

async function acceptedSpec(reader: SpecReader, content: string): Promise<ReadSpec> {
  const reading = reader.read(content);
  if (reading === null) {
    const headers = { 'retry-after': String(READER.deadlineMs / 1_000) };
    throw new EdgeError(503, 'apiGuardian.busy', 'Too many specifications are being read; try again later', { headers });
  }
  const outcome = await reading;
  if (outcome.kind === 'accepted') return outcome.spec;
  const [first] = outcome.errors;
  const message = `The specification is refused: ${first?.field}: ${first?.message}`;
  throw new EdgeError(400, 'apiGuardian.specification_invalid', message, { errors: outcome.errors });
}

/** Answers operation 3: the OpenAPI specifications of shield zones, and their endpoints. */
export const apiGuardian: LocalResource = {
  name: 'api-guardian',
  migrations: [GUARDIAN_MIGRATION],
  routes(app, { db, now }) {
    const reader = createSpecReader(READER);
    app.addHook('onClose', () => reader.stop());
    app.patch<{ Params: { shieldZoneId: number } }>('/shield/shield-zone/:shieldZoneId/api-guardian/spec', async ({ params, body }) => {
      const { shieldZoneId: zoneId } = params;
      const { content, enforceAuthorizationValidation: enforceAuthorization } = bodyAs(body, readSpecRequest);
      const spec = await acceptedSpec(reader, content);
      const stored = inPlaneTransaction(db, () => storeSpec(db, { zoneId, content, spec, enforceAuthorization, nowMs: now() }));
      return shieldSuccess(guardianAnswer(stored), spec.notes.length === 0 ? null : `Taken, but not used: ${spec.notes.join('; ')}`);
    });
  },
};
