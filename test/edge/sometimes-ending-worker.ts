import process from 'node:process';
import { type BodyOrder, validateBody } from '../../edge/body-thread.ts';

/** Ends the thread at a body that begins with `end`, and takes every other. */
export const startWork = () => (order: BodyOrder) => {
  if (Buffer.from(order.bytes).toString().startsWith('end')) process.exit(1);
  return validateBody(order, () => null);
};
