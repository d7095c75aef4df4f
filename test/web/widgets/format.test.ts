import { describe, expect, test } from 'vitest';
import { durationText, numberOf } from '../../../web/widgets/format.ts';

describe('numbers', () => {
  test.each([
    [0, '0 events'],
    [1, '1 event'],
    [1_234_567, '1,234,567 events'],
  ])('%i events are %s', (count, text) => {
    expect(numberOf(count)).toBe(text);
  });

  test.each([
    [87.4, '87 ms'],
    [9_999, '9999 ms'],
    [18_789, '18.8 s'],
  ])('%d milliseconds are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});
