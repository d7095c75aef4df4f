import { RequestProblem } from './problem.ts';

const MOST = 2_147_483_647;

/** The `shieldZoneId` of a path. Throws RequestProblem `request.invalid` unless it is decimal digits 0..2147483647. */
export function parseZoneId(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= MOST) return Number(text);
  const message = `"${text}" is not a whole number 0..${MOST}`;
  throw new RequestProblem('request.invalid', `shieldZoneId: ${message}`, { errors: [{ field: 'shieldZoneId', message }] });
}
