import { type BodyOrder, validateBody } from '../body-verdict.ts';
import { readLocalBody } from './read-local-body.ts';

// What the thread of the local control plane does.
export default (order: BodyOrder): unknown => validateBody(order, readLocalBody);
