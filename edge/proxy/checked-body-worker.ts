import { type BodyOrder, validateBody } from '../body-thread.ts';

// The bytes go on to the upstream. Nothing else of the body is needed.
export default (order: BodyOrder): unknown => validateBody(order, () => null);
