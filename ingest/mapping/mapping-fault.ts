/** A record cannot become an event. The message names the member of the mapping, the value and what is allowed. */
export class MappingFault extends Error {
  override readonly name = 'MappingFault';
}

const LONGEST_SHOWN = 80;

/** A value of a record for a message, cut short. */
export function shownText(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);
}
