import { expect, test } from 'vitest';
import type { DeadLetter } from '../../store/dead-letter.ts';
import { identityOf, messageHashOf } from '../../store/dead-letter-identity.ts';

const LETTER: DeadLetter = {
  bytes: Buffer.from('{"a":1}'),
  cut: null,
  reason: 'it is no event',
  source: 'http',
  topic: null,
  partition: null,
  offset: null,
  zoneId: 7,
};
const ofKafka = { source: 'kafka', topic: 'waf', partition: 3, offset: 5n };

const identity = (rest: Partial<DeadLetter>): string => {
  const letter = { ...LETTER, ...rest };
  return identityOf(letter, messageHashOf(letter)).toString('hex');
};

// Stores have these. With others, letters that are there would be kept a second time.
test.each([
  ['of an upload', {}, '35e6cd32f1ee2e82b440744d4d2ab135412db29a6a2652b5730068e9000151da'],
  ['without a zone', { source: 'file', zoneId: null }, 'b4c01da36e9d3f50bf6507da2f8cf0afeaf3589efbf531e5228dd01f5642822a'],
  ['of a message', ofKafka, '19efe348cbd2abdb9572d7541d0b9129ba964542b99fc590124f64111f77d01c'],
  ['of one of its events', { ...ofKafka, index: 2 }, 'f49ca1ec224d04facb8868b06f86e2ccb2c5ff3c8d180c01d3c3bc2cfb30b6e5'],
])('the identity of a letter %s stays as it is, whether it names no mapping or none is known of it', (_, rest, known) => {
  expect([identity(rest), identity({ ...rest, mapping: null })]).toEqual([known, known]);
});

test('letters of the same bytes are told apart by their mapping, whatever else they are', () => {
  const letters = [{}, { zoneId: null }, { source: 'file' }, ofKafka, { ...ofKafka, index: 0 }];
  const by = [{}, { mapping: 'aws-waf' }, { mapping: 'aws' }];
  const identities = letters.flatMap((letter) => by.map((mapping) => identity({ ...letter, ...mapping })));
  expect(new Set(identities).size).toBe(letters.length * by.length);
});
