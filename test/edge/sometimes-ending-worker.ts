import process from 'node:process';
import { type BodyTask, validateBody } from '../../edge/body-thread.ts';

/** Ends the thread at a body that begins with `end`, and takes every other. */
export const startWork = () => (task: BodyTask) => {
  if (Buffer.from(task.bytes).toString().startsWith('end')) process.exit(1);
  return validateBody(task, () => null);
};
