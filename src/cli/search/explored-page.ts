import { membersOf } from '../../../query/json-text.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { type AskedProgram, fetchAnswer, type WholeAnswer, zonesPath } from '../program-requests.ts';

/** A page of rows or groups, each as JSON. */
export interface ExploredPage {
  /** The answer as the program sent it. */
  readonly answer: Buffer;
  readonly records: readonly string[];
  /** How many there are on all pages. */
  readonly total: number;
  /** The most events that the page and the total lack, because the program cannot read them. */
  readonly unreadable: number;
}

/** Reads the answer to a search. Throws DeliveryError where it is none. */
function pageIn({ bytes: answer, unreadable }: WholeAnswer): ExploredPage {
  try {
    const members = new Map(membersOf(answer.toString('utf8')).map(({ name, text }) => [name, text]));
    const list = [members.get('rows'), members.get('groups')].find((text) => text?.startsWith('['));
    const total = Number(members.get('total'));
    if (list !== undefined && Number.isSafeInteger(total)) {
      return { answer, records: membersOf(list).map(({ text }) => text), total, unreadable };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new DeliveryError('refused', 'what answered is no shieldlog: its answer is not that of a search');
}

/** Asks the program for a page of rows or groups. Throws as `fetchAnswer`, and DeliveryError where the answer is not that of a search. */
export async function explorePage(
  program: AskedProgram,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ExploredPage> {
  const asked = { method: 'POST', path: zonesPath(program, 'explore'), accept: 'application/json' } as const;
  return pageIn(await fetchAnswer(program, { ...asked, body: JSON.stringify(body), signal }));
}
