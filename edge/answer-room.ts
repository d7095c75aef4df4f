import type { ServerResponse } from 'node:http';
import { NoRoomForAnswer } from './proxy-failure.ts';

/** A caller who takes nothing of an answer for so long is cut off. */
export const CALLER_IDLE_MS = 30_000;

/** Cuts a caller off who takes nothing of the answer for `idleMs`. */
export function cutOffIdle(response: ServerResponse, idleMs: number = CALLER_IDLE_MS): void {
  response.setTimeout(idleMs, () => response.destroy());
}

/** The memory that answers may take together, from their first byte until the caller has taken them, in bytes. */
export interface AnswerRoom {
  /** Throws NoRoomForAnswer where there are not so many bytes left. */
  take(bytes: number): void;
  give(bytes: number): void;
}

export function makeAnswerRoom(capacityBytes: number): AnswerRoom {
  let takenBytes = 0;
  return {
    take(bytes) {
      if (takenBytes + bytes > capacityBytes) throw new NoRoomForAnswer('Too many large answers are on their way; try again later');
      takenBytes += bytes;
    },
    give(bytes) {
      takenBytes -= bytes;
    },
  };
}
