import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { apiGuardian } from '../../../../edge/local/api-guardian/api-guardian.ts';
import { exampleOf } from '../../example-requests.ts';
import { startFacade } from '../resource-calls.ts';
import { petSpecification } from './specification.ts';

test.each(['application/json', 'text/json', 'application/merge-patch+json; charset=utf-8'])('a specification comes as %s', async (type) => {
  await using facade = await startFacade([apiGuardian]);
  const body = { content: stringify(petSpecification()), enforceAuthorizationValidation: true };
  const answer = await facade.call({ ...exampleOf(3), body }, { 'content-type': type });
  expect([answer.status, answer.body.data.endpoints.length, answer.body.data.configuration.shieldZoneId]).toEqual([200, 3, 7]);
});

test('a specification comes as nothing else', async () => {
  await using facade = await startFacade([apiGuardian]);
  const answer = await facade.call({ ...exampleOf(3), body: stringify(petSpecification()) }, { 'content-type': 'application/yaml' });
  expect(answer.status).toBe(415);
});

test('a specification that is refused is answered with ProblemDetails that name the path', async () => {
  await using facade = await startFacade([apiGuardian]);
  const specification = { ...petSpecification(), openapi: '3.2.0' };
  const answer = await facade.call({ ...exampleOf(3), body: { content: JSON.stringify(specification) } });
  expect([answer.status, answer.contentType]).toEqual([400, 'application/problem+json; charset=utf-8']);
  expect(answer.body).toMatchObject({ status: 400, errors: [{ field: 'content#/openapi' }] });
});

test('a specification of two million bytes comes through, also where every byte is escaped', async () => {
  await using facade = await startFacade([apiGuardian]);
  const content = JSON.stringify(petSpecification()).padEnd(2_000_000, '\n');
  expect((await facade.call({ ...exampleOf(3), body: { content } })).status).toBe(200);
  expect((await facade.call({ ...exampleOf(3), body: { content: `${content} ` } })).status).toBe(413);
});
