import fc from 'fast-check';
import { expect, test } from 'vitest';
import { droppedFrame, eventFrame, heartbeatFrame, readyFrame } from '../../../src/tail/tail-frames.ts';
import { messageReader } from '../../../web/live/event-stream.ts';
import { assertProperty } from '../../random/assert-property.ts';

function readIn(pieces: readonly string[]): readonly unknown[] {
  const seen: unknown[] = [];
  const read = messageReader({ onMessage: (message) => seen.push(message), onId: (id) => seen.push(id), onRetry: (ms) => seen.push(ms) });
  for (const piece of pieces) read(piece);
  return seen;
}

const STREAM = [readyFrame('c1'), eventFrame('{"url":"a: b"}', 'c2'), droppedFrame(5, 'unread'), heartbeatFrame('c3')].join('');

const MESSAGES = [
  2_000,
  { event: 'ready', data: '{"cursor":"c1"}' },
  'c1',
  { event: 'event', data: '{"url":"a: b"}' },
  'c2',
  { event: 'dropped', data: '{"count":5,"reason":"unread"}' },
  'c3',
];

test('the messages of the tail are read wherever their text is cut', () => {
  expect(readIn([STREAM])).toEqual(MESSAGES);
  expect(readIn([...STREAM])).toEqual(MESSAGES);
  assertProperty(
    fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 8 }), (cuts) => {
      const ends = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
      expect(readIn(ends.slice(1).map((end, index) => STREAM.slice(ends[index], end)))).toEqual(MESSAGES);
    }),
  );
});

test('a message that is cut off gives no id, so that it is asked for again', () => {
  expect(readIn(['id: c9\nevent: event\ndata: {"a":'])).toEqual([]);
});

test('what is written otherwise is read by the rules of the standard', () => {
  expect(readIn(['data:a\ndata: b\ndata\n\n: remark\nretry: soon\nother: x\n\nid\n\n'])).toEqual([
    { event: 'message', data: 'a\nb\n' },
    '',
  ]);
});
