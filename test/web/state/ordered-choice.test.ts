import { expect, test } from 'vitest';
import { moved, movedTo } from '../../../web/state/ordered-choice.ts';

const LIST = ['ip', 'asn', 'url'];

test.each([
  ['ip', 1, ['asn', 'ip', 'url']],
  ['url', -1, ['ip', 'url', 'asn']],
  ['ip', -1, LIST],
  ['url', 5, LIST],
  ['ip', 9, ['asn', 'url', 'ip']],
  ['ua', 1, LIST],
])('%s moves by %i', (item, by, expected) => {
  expect(moved(LIST, item, by)).toEqual(expected);
});

test.each([
  ['ip', 'url', ['asn', 'url', 'ip']],
  ['url', 'ip', ['url', 'ip', 'asn']],
  ['ip', 'ip', LIST],
  ['ip', 'ua', LIST],
  ['ua', 'ip', LIST],
])('%s is dropped on %s', (item, target, expected) => {
  expect(movedTo(LIST, item, target)).toEqual(expected);
});
