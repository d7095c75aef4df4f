import { answered, isUpToDate, questionOfState } from './answers.ts';
import { explorer, linkTo } from './explorer.ts';

/** The link to what is shown, whenever it is opened: with the times of the answer, in which no events come in. */
export function fixedLink(): string {
  const { from, to } = (isUpToDate.peek() ? (answered.peek()?.question ?? questionOfState()) : questionOfState()).body;
  return outside(linkTo({ ...explorer.peek(), range: { kind: 'between', from, to }, isLive: false, isRefreshing: false }));
}

/** The link as the address has it: a time up to now is that of whoever opens it. */
export function relativeLink(): string {
  return outside(linkTo(explorer.peek()));
}

function outside(link: string): string {
  return new URL(link, location.href).href;
}
