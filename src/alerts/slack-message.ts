import type { AlertFacts, AlertMessage, AlertValue, ReceiverRequest, ToldAlert } from './told-alerts.ts';

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

const percent = (part: number, whole: number): string => `${Math.round((part / Math.max(whole, 1)) * 100)} %`;

function valueText({ field, value, count }: AlertValue, of: number): string {
  return `${field} ${value === '' ? '(none)' : code(value)} ${percent(count, of)}`;
}

/** `10 events from TIME to TIME`, with the times as far as they are known. */
function eventsText({ count, times }: AlertFacts): string {
  const between = times === null ? '' : ` from ${new Date(times.firstMs).toISOString()} to ${new Date(times.lastMs).toISOString()}`;
  return `${numberOf(count, 'event')}${between}`;
}

function lines({ sentence, facts, link, isBounded }: ToldAlert): readonly string[] {
  const text = sentence.map((part) => (typeof part === 'string' ? words(part) : code(part.value))).join('');
  const known =
    facts === null
      ? []
      : typeof facts === 'string'
        ? [`What its events have is not known: ${words(facts)}`]
        : [
            `${eventsText(facts)}; most: ${facts.top.map((value) => valueText(value, facts.count)).join(', ') || 'nothing'}`,
            ...(facts.different.length === 0
              ? []
              : [`More than around: ${facts.different.map((value) => valueText(value, facts.count)).join(', ')}`]),
          ];
  const bounded = isBounded ? ['The rule counts more groups than it may: further alerts may be missing'] : [];
  return [text, ...known, ...bounded, ...(link === null ? [] : [`<${words(link)}|Show its events>`])];
}

/** Slack cuts longer texts off, which would let one alert hide the others. */
const MAX_TEXT_LENGTH = 30_000;

/** The message as one text of Slack's markup, for an incoming webhook. Alerts that would make it too long are counted. */
export function slackRequest({ alerts, more }: AlertMessage): ReceiverRequest {
  const texts: string[] = [];
  let length = 0;
  for (const text of alerts.map((alert) => lines(alert).join('\n'))) {
    length += text.length;
    if (length > MAX_TEXT_LENGTH) break;
    texts.push(text);
  }
  const left = more + alerts.length - texts.length;
  const text = [...texts, ...(left === 0 ? [] : [`${numberOf(left, 'more alert')} of this rule`])].join('\n\n');
  return { headers: {}, body: JSON.stringify({ text, unfurl_links: false, unfurl_media: false, link_names: false }) };
}
