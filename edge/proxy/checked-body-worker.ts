import { type BodyTask, validateBody } from '../body-thread.ts';

/** The work of the thread of `BodyThread`. The bytes go on to the upstream, and nothing else of the body is needed. */
export const startWork = () => (task: BodyTask) => validateBody(task, () => null);
