import type { FastifyReply } from 'fastify';

/** The header of an answer that may lack events, because files of the store are damaged or missing: how many at most. */
const INCOMPLETE_HEADER = 'shield-incomplete';

/** Sets the header where there are such events. It is called once the answer has been read. */
export function markIncomplete(reply: FastifyReply, unreadableEvents: number): void {
  if (unreadableEvents > 0) reply.header(INCOMPLETE_HEADER, String(unreadableEvents));
}
