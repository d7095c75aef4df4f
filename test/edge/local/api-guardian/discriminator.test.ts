import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { answeredSchema, answering, type Specification } from './specification.ts';

const CAT = { type: 'object', properties: { claws: { type: 'integer' } } };
const DOG = { type: 'object', properties: { bark: { type: 'string' } } };
const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const SCHEMAS = { Cat: CAT, Dog: DOG, 'a.b-c': CAT, Alias: to('Dog') };

const kind = (mapping: object) => ({ propertyName: 'kind', mapping });

async function written(schema: object, schemas: object = SCHEMAS): Promise<Specification> {
  return parse((await answeredSchema(JSON.stringify(answering(schema, { ...schemas })))) ?? '');
}

describe('the mapping of a discriminator', () => {
  test.each<[string, object, object]>([
    ['references', { cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' }, { cat: '#/oneOf/0', dog: '#/oneOf/1' }],
    ['names', { cat: 'Cat', dog: 'Dog', other: 'a.b-c' }, { cat: '#/oneOf/0', dog: '#/oneOf/1', other: '#/oneOf/2' }],
    ['several values of one branch', { cat: 'Cat', tom: 'Cat' }, { cat: '#/oneOf/0', tom: '#/oneOf/0' }],
    ['an escaped reference', { cat: '#/components/schemas/%43at' }, { cat: '#/oneOf/0' }],
    ['what leads to a branch by one more reference', { dog: 'Alias' }, { dog: '#/oneOf/1' }],
    ['values that are numbers and signs', { 1: 'Cat', '~/': 'Dog' }, { 1: '#/oneOf/0', '~/': '#/oneOf/1' }],
    ['one branch among others', { cat: 'Cat', bird: 'Bird', web: 'https://x.example/Cat', file: 'Cat.json' }, { cat: '#/oneOf/0' }],
  ])('has the places of branches for %s', async (_, mapping, placed) => {
    const oneOf = [to('Cat'), to('Dog'), to('a.b-c')];
    expect((await written({ oneOf, discriminator: kind(mapping) }))['discriminator']).toEqual(kind(placed));
  });

  test.each<[string, object]>([
    ['of anyOf', { anyOf: [CAT, to('Cat')] }],
    ['whose schema refers to another', { anyOf: [DOG, to('Mid')] }],
  ])('has the place of a branch %s', async (_, schema) => {
    const answer = await written({ ...schema, discriminator: kind({ cat: 'Cat' }) }, { ...SCHEMAS, Mid: to('Cat') });
    expect(answer['discriminator']).toEqual(kind({ cat: '#/anyOf/1' }));
  });

  test('has the place in the whole schema that is written', async () => {
    const pet = { oneOf: [to('Cat')], discriminator: kind({ cat: 'Cat' }) };
    const schema = { type: 'array', items: { allOf: [{ properties: { 'a/b #%ä': to('Pet') } }] } };
    const answer = await written(schema, { ...SCHEMAS, Pet: pet });
    const place = '#/items/allOf/0/properties/a~1b%20%23%25%C3%A4/oneOf/0';
    expect(answer['items'].allOf[0].properties['a/b #%ä'].discriminator).toEqual(kind({ cat: place }));
  });

  test('has the place of a branch that is a schema inside of itself', async () => {
    const node = { oneOf: [to('Node'), to('Cat')], discriminator: kind({ node: 'Node', cat: 'Cat' }) };
    const { oneOf, discriminator } = await written(to('Node'), { ...SCHEMAS, Node: node });
    expect([oneOf[0], discriminator.mapping]).toEqual([to('Node'), { node: '#/oneOf/0', cat: '#/oneOf/1' }]);
  });

  test.each<[string, object]>([
    ['no entry has a branch', { allOf: [to('Cat')], discriminator: kind({ cat: 'Cat' }) }],
    ['it is empty', { oneOf: [to('Cat')], discriminator: kind({}) }],
    ['its references are broken', { oneOf: [to('Cat')], discriminator: kind({ a: '#/%E0%A4%A', b: '#/nothing', c: '' }) }],
  ])('is left out where %s', async (_, schema) => {
    expect((await written(schema))['discriminator']).toEqual({ propertyName: 'kind' });
  });

  test('is refused where it leads into data with references in a circle', async () => {
    const loop = { oneOf: [{ $ref: '#/components/examples/loop/value/oneOf/0' }], discriminator: kind({ a: 'Cat' }) };
    const specification = answering({ $ref: '#/components/examples/loop/value' }, SCHEMAS);
    specification['components'].examples = { loop: { value: loop } };
    await expect(answeredSchema(JSON.stringify(specification))).rejects.toThrow('circle');
  });

  test('is a property like others where a property has its name', async () => {
    const properties = { discriminator: { type: 'object', properties: { mapping: { type: 'string' } } } };
    expect(await written({ properties })).toEqual({ properties });
  });
});
