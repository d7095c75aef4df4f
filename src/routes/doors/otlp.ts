import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { requireContentType } from '../../http/content-negotiation.ts';
import { OTLP_TYPES, type OtlpType, otlpStatus, otlpSuccess } from '../../http/otlp-answers.ts';
import type { RequestProblem } from '../../http/problem.ts';
import { type DoorRoutesOptions, doorConfig, type ErrorWords, openDoor, refusedRecord } from './door.ts';

const [PROTOBUF, JSON_TYPE] = OTLP_TYPES;

/** The type of a request, in which it is answered; JSON for one that is not taken. */
function typeOf({ headers }: FastifyRequest): OtlpType {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === PROTOBUF ? PROTOBUF : JSON_TYPE;
}

function otlpError({ status, message }: RequestProblem, request: FastifyRequest): ErrorWords {
  const type = typeOf(request);
  return { type, body: otlpStatus(type, status, message) };
}

/** Of how many of the log records of a request something was rejected: a mapping may make several of each. Beyond those listed, at most. */
function rejectedRecords({ rejected, rejectedCount }: IntakeReport, records: number): number {
  const listed = new Set(rejected.map(({ line }) => line)).size;
  return Math.min(records, listed + rejectedCount - rejected.length);
}

/** `POST /v1/logs`: OTLP over HTTP, in protobuf or JSON. Single letters are a partial success, which no client sends again. */
export async function otlpRoutes(app: FastifyInstance, options: DoorRoutesOptions): Promise<void> {
  openDoor(app, options, 'otlp', otlpError);
  const { intake } = options;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    requireContentType(request.headers['content-type'], (type) => OTLP_TYPES.some((one) => one === type), OTLP_TYPES.join(', '));
    intake.requireMapping(request);
  };
  app.post('/v1/logs', { ...doorConfig('authorization'), onRequest }, async (request: FastifyRequest, reply: FastifyReply) => {
    const type = typeOf(request);
    const { refusal, report, records } = await intake.take(request, reply, type === PROTOBUF ? 'otlp protobuf' : 'otlp json');
    reply.type(type);
    if (refusal !== null) return reply.code(400).send(otlpStatus(type, 400, `log record ${refusal.index}: ${refusal.reason}`));
    const [first] = report.rejected.slice(0, 1).map(refusedRecord);
    return reply.send(
      otlpSuccess(
        type,
        rejectedRecords(report, records),
        first && `log record ${first.index}: ${first.reason}; it is kept as a dead letter`,
      ),
    );
  });
}
