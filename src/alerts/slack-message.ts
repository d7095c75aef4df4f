import { type AlertMessage, type AlertValue, isoTime, type ToldAlert } from './told-alerts.ts';

const SPECIAL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Our own words, or a text of the operator: nothing in it is a mention, a link or a command. */
function words(text: string): string {
  return text.replace(/[&<>]/g, (character) => SPECIAL[character] ?? character);
}

/** A value of an event, as code: Slack makes neither links nor people nor emphasis of what is in it. Nothing in it ends the code. */
function code(value: string): string {
  return `\`${words(value.replaceAll('`', '\\u0060'))}\``;
}

const numberOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Values, each with its share of so many events. */
function sharesText(values: readonly AlertValue[], of: number): string {
  const share = (count: number) => `${Math.round((count / Math.max(of, 1)) * 100)} %`;
  return values.map(({ field, value, count }) => `${field} ${value === '' ? '(none)' : code(value)} ${share(count)}`).join(', ');
}

function factLines(facts: ToldAlert['facts']): readonly string[] {
  if (facts === null) return [];
  if (typeof facts === 'string') return [`What its events have is not known: ${words(facts)}`];
  const { count, times, top, different } = facts;
  const between = times === null ? '' : ` from ${isoTime(times.firstMs)} to ${isoTime(times.lastMs)}`;
  const most = `${numberOf(count, 'event')}${between}; most: ${sharesText(top, count) || 'nothing'}`;
  return different.length === 0 ? [most] : [most, `More than around: ${sharesText(different, count)}`];
}

function alertText({ sentence, facts, link, isBounded }: ToldAlert): string {
  const lines = [sentence(code), ...factLines(facts)];
  if (isBounded) lines.push('The rule counts more groups than it may: further alerts may be missing');
  if (link !== null) lines.push(`<${words(link)}|Show its events>`);
  return lines.join('\n');
}

/** Slack cuts longer texts off, which would let one alert hide the others. */
const MAX_TEXT_LENGTH = 30_000;

/** The message as one text of Slack's markup, for an incoming webhook. Alerts that would make it too long are counted. */
export function slackMessage({ alerts, more }: AlertMessage): object {
  const texts: string[] = [];
  let length = 0;
  for (const text of alerts.map(alertText)) {
    length += text.length;
    if (length > MAX_TEXT_LENGTH) break;
    texts.push(text);
  }
  const left = more + alerts.length - texts.length;
  if (left > 0) texts.push(`${numberOf(left, 'more alert')} of this rule`);
  return { text: texts.join('\n\n'), unfurl_links: false, unfurl_media: false, link_names: false };
}
