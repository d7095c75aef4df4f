import { OPEN_BRACE } from '../../query/json-bytes.ts';
import { JsonSkipper, type MemberRange } from '../event/json-skipper.ts';
import { type EnvelopeFault, foundAt, RecordPlaces, type TakenApart } from './envelope.ts';
import { behindBrackets } from './json-brackets.ts';
import { NamedMembers } from './named-members.ts';

/** Numbers of Splunk for what is wrong with a request. */
export const HEC_CODES = { invalidData: 6, noEvent: 12, blankEvent: 13 } as const;

/**
 * Takes objects of Splunk's HTTP event collector apart, which stand back to back, with or without blanks between them. The record of each
 * is its `event`: an object, or a text that is one. All other members are passed over, because each source has its own time in the record.
 */
export function takeHecEvents(body: Buffer): TakenApart | EnvelopeFault {
  const length = body.length - 1;
  const skipper = new JsonSkipper();
  const places = new RecordPlaces(body);
  let at = skipper.skipBlank(body, 0);
  for (let index = 0; at < length; index++) {
    if (body[at] !== OPEN_BRACE) return invalid(body, at, index);
    const members = new NamedMembers(body, 'event');
    skipper.reset();
    // The object itself does not count among the levels of its record.
    let end = skipper.skipObject(body, at, 0, members);
    if (end >= 0) {
      const fault = addEvent(places, members.get('event'), index);
      if (fault !== null) return fault;
    } else if (skipper.fault === 'nesting' && behindBrackets(body, at) > 0) {
      // A record that is too deep must not keep the others out. All of its object is the letter.
      end = behindBrackets(body, at);
      places.add(at, end);
    } else {
      return invalid(body, skipper.faultAt, index);
    }
    at = skipper.skipBlank(body, end);
  }
  return places.taken();
}

/** Takes lines as records, each of which is an event. Blank ones are passed over. */
export function takeHecLines(body: Buffer): TakenApart {
  const places = new RecordPlaces(body);
  places.addLines(0, body.length - 1);
  return places.taken();
}

function addEvent(places: RecordPlaces, event: MemberRange | undefined, index: number): EnvelopeFault | null {
  if (event === undefined || event.kind === 'null') {
    return { kind: 'fault', code: HEC_CODES.noEvent, index, reason: `the object ${index} has no "event": an object or a text is required` };
  }
  const { valueStart, valueEnd, valueHasEscapes } = event;
  const isThere = event.kind === 'string' ? places.addText(valueStart, valueEnd, valueHasEscapes) : places.add(valueStart, valueEnd);
  if (isThere) return null;
  return { kind: 'fault', code: HEC_CODES.blankEvent, index, reason: `"event" of the object ${index} is a blank text` };
}

function invalid(body: Buffer, at: number, index: number): EnvelopeFault {
  const reason = `the object ${index} is not JSON: ${foundAt(body, at)}; allowed: objects such as {"event":{…}}, back to back`;
  return { kind: 'fault', code: HEC_CODES.invalidData, index, reason };
}
