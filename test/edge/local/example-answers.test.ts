import { expect, test } from 'vitest';
import { localResources } from '../../../edge/local/control-plane.ts';
import { OPERATIONS } from '../../../edge/operations/operations.ts';
import { exampleOf } from '../example-requests.ts';
import { startFacade } from './resource-calls.ts';

/** Those that are answered alike at any time and on any machine. */
const STEADY = OPERATIONS.filter(({ number }) => [2, 3, 4, 5, 8, 11, 12].includes(number));

/** JSON with one time instead of all. */
const untimed = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g, '2026-01-01T00:00:00.000Z'));

test.each(STEADY)('a new control plane answers the example of operation $number as the description shows', async ({ number, example }) => {
  await using facade = await startFacade(localResources({ challengeResolver: null }));
  const { body } = await facade.call(exampleOf(number));
  expect(untimed(body === '' ? null : body)).toEqual(untimed(example.answer));
});
