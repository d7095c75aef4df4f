import { type BodyTask, validateBody } from '../body-thread.ts';
import { readSpecRequest } from './api-guardian/spec-request.ts';
import { DATABASE_LIMITS } from './database/database-limits.ts';
import { readCursor, readPipeline } from './database/read-pipeline.ts';
import { readWrittenZone } from './dns/zone-request.ts';

/** Picks what the local control plane needs of a large body. Throws EdgeError, and an Error for an operation that has only small bodies. */
function readLocalBody(operation: string, body: unknown): unknown {
  switch (operation) {
    case 'updateApiGuardianSpec':
      return readSpecRequest(body);
    case 'addDnsZone':
      return readWrittenZone(body);
    case 'databasePipeline':
    case 'databasePipelineOfVersion3':
      return readPipeline(body, DATABASE_LIMITS.requests);
    case 'databaseCursor':
      return readCursor(body);
    default:
      throw new Error(`The local control plane has no reader of large bodies of ${operation}`);
  }
}

/** The work of the thread of `BodyThread`. */
export const startWork = () => (task: BodyTask) => validateBody(task, readLocalBody);
