import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonType, JSON_TYPES, requireContentType } from '../../http/content-negotiation.ts';
import { type DoorRoutesOptions, doorConfig, openDoor } from './door.ts';

const JSON_TYPE = 'application/json';

/** `POST /ingest/firehose`: an HTTP endpoint of Amazon Data Firehose, which takes nothing but 200 for success. */
export async function firehoseRoutes(app: FastifyInstance, options: DoorRoutesOptions): Promise<void> {
  const bodyOf = ({ headers }: FastifyRequest, errorMessage?: string): string =>
    JSON.stringify({
      // The header has the id of the body, and is there whatever becomes of the body.
      requestId: String(headers['x-amz-firehose-request-id'] ?? ''),
      timestamp: options.now(),
      ...(errorMessage === undefined ? {} : { errorMessage }),
    });
  openDoor(app, options, 'firehose', ({ message }, request) => ({ type: JSON_TYPE, body: bodyOf(request, message) }));
  const { intake } = options;
  const config = doorConfig('authorization', 'x-amz-firehose-access-key');
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    requireContentType(request.headers['content-type'], isJsonType, JSON_TYPES.join(', '));
    intake.requireMapping(request);
  };
  app.post('/ingest/firehose', { ...config, onRequest }, async (request: FastifyRequest, reply: FastifyReply) => {
    const { refusal } = await intake.take(request, reply, 'firehose');
    reply.type(JSON_TYPE);
    return refusal === null ? reply.send(bodyOf(request)) : reply.code(400).send(bodyOf(request, refusal.reason));
  });
}
