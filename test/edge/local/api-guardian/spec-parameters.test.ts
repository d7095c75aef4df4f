import { describe, expect, test } from 'vitest';
import { readSpec } from '../../../../edge/local/api-guardian/read-spec.ts';

const TEXT = { type: 'string' };
const inPath = (name: string) => ({ name, in: 'path', required: true, schema: TEXT });
const inHeader = (name: string) => ({ name, in: 'header', schema: TEXT });

/** Returns the names that the one endpoint of a path has, whose item and operation declare these parameters. */
async function namesOf(path: string, ofItem: readonly object[], ofOperation: readonly object[]) {
  const operation = { parameters: ofOperation, responses: { 204: { description: '' } } };
  const paths = { [path]: { parameters: ofItem, get: operation } };
  const { endpoints } = await readSpec(JSON.stringify({ openapi: '3.0.3', info: { title: 'T', version: '1' }, paths }));
  return endpoints[0]?.availableParameters;
}

describe('parameters of a path', () => {
  test.each<[string, readonly object[], readonly string[]]>([
    ['/u/{userId}', [inPath('id')], ['userId']],
    ['/v/{x}', [], ['x']],
    ['/w/{b}/{a}', [inPath('a'), inPath('b')], ['b', 'a']],
    ['/x/{a}-{b}.json', [inPath('a')], ['a', 'b']],
    ['/y/{a}/{a}', [], ['a']],
    ['/z', [inPath('id')], []],
    ['/z/{}', [], []],
    ['/~{user name}', [], ['user name']],
  ])('are the names in the template %s', async (path, declared, names) => {
    expect((await namesOf(path, declared, []))?.Path).toEqual(names);
    expect((await namesOf(path, [], declared))?.Path).toEqual(names);
  });
});

describe('headers', () => {
  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ['of path and operation that differ in case are one, as the operation has it', ['X-Trace'], ['x-trace'], ['x-trace']],
    ['of one list that differ in case are one', [], ['X-Trace', 'X-TRACE'], ['X-TRACE']],
    ['that differ in more are two', ['X-Trace'], ['X-Trace-Id'], ['X-Trace', 'X-Trace-Id']],
    ['that OpenAPI ignores are left out in any case', ['AUTHORIZATION'], ['content-Type', 'X-A'], ['X-A']],
  ])('%s', async (_, ofItem, ofOperation, names) => {
    expect((await namesOf('/a', ofItem.map(inHeader), ofOperation.map(inHeader)))?.Header).toEqual(names);
  });

  test('are the only names whose case means nothing', async () => {
    const names = await namesOf(
      '/a',
      [],
      [
        { name: 'q', in: 'query', schema: TEXT },
        { name: 'Q', in: 'query', schema: TEXT },
        { name: 's', in: 'cookie', schema: TEXT },
        { name: 'S', in: 'cookie', schema: TEXT },
      ],
    );
    expect(names).toMatchObject({ Query: ['q', 'Q'], Cookie: ['s', 'S'] });
  });
});
