import { NoRoomForAnswer } from './proxy-failure.ts';

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
