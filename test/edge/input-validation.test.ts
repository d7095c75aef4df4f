import { expect, test } from 'vitest';
import { localResources } from '../../edge/local/control-plane.ts';
import { exampleOf } from './example-requests.ts';
import { startFacade } from './local/resource-calls.ts';

const meant = (given: string, name: string): string =>
  `${name}: is missing; "${given}" is there, and names are case-sensitive: "${name.split('.').at(-1)}" is meant`;

test.each<[number, object, string]>([
  [4, { domain: 'example.com' }, meant('domain', 'Domain')],
  [4, { DOMAIN: 'example.com', Records: [] }, meant('DOMAIN', 'Domain')],
  [4, { domain: 'example.com', pad: 'x'.repeat(300_000) }, meant('domain', 'Domain')],
  [
    4,
    { Domain: 'example.com', Records: [{ Value: '192.0.2.1', EnviromentalVariables: [{ name: 'a' }] }] },
    meant('name', 'Records[0].EnviromentalVariables[0].Name'),
  ],
  [2, { name: 'LOG_LEVEL' }, meant('name', 'Name')],
  [3, { Content: 'openapi: 3.0.3' }, meant('Content', 'content')],
  [5, { Action: 1 }, meant('Action', 'action')],
  [6, { hostname: 'www.example.com' }, meant('hostname', 'Hostname')],
  [4, { Domains: 'example.com' }, 'Domain: is missing'],
  [4, {}, 'Domain: is missing'],
])('operation %i is told which name is meant in %j', async (number, body, message) => {
  await using facade = await startFacade(localResources({ challengeResolver: null }));
  const { status, body: answer } = await facade.call({ ...exampleOf(number), body });
  expect([status, answer.Message ?? answer.detail]).toEqual([400, message]);
});
