import { hasBit } from './bits';

/**
 * Notes where the values of events lie: for each event four bytes at `places`, which are 0 where it has none. `present` has a bit for each event, set where it has a value; 0 stands for values
 * of all of them.
 */

/** The values are texts back to back, each behind its length. Returns where the last one ends, or 0 where one would end behind `end`. */
export function placeTexts(values: usize, end: usize, present: usize, count: u32, places: usize): usize {
  let at = values;
  for (let event: u32 = 0; event < count; event++) {
    let place: usize = 0;
    if (present === 0 || hasBit(present, event)) {
      if (end - at < 4 || end - at - 4 < <usize>load<u32>(at)) {
        return 0;
      }
      place = at;
      at += 4 + load<u32>(at);
    }
    store<u32>(places + 4 * event, <u32>place);
  }
  return at;
}

/** The values are numbers of `size` bytes. Returns where the last one ends. */
export function placeNumbers(values: usize, size: usize, present: usize, count: u32, places: usize): usize {
  let at = values;
  for (let event: u32 = 0; event < count; event++) {
    let place: usize = 0;
    if (present === 0 || hasBit(present, event)) {
      place = at;
      at += size;
    }
    store<u32>(places + 4 * event, <u32>place);
  }
  return at;
}
