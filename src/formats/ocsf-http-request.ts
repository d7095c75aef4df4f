import type { EventFacts } from './event-facts.ts';
import { withJson, withObject, withText } from './json-members.ts';
import type { Quote } from './json-text.ts';
import { headerValue, type LogHeader } from './log-details.ts';
import type { HostTexts } from './ocsf-host.ts';

/** The members of `http_request`. */
export function httpRequest(facts: EventFacts, hosts: HostTexts): string {
  const { event, log, quote } = facts;
  let members = withObject('', ',"url":', url(facts, hosts));
  members = withText(members, ',"user_agent":', event.fields.ua, quote);
  members = withText(members, ',"referrer":', headerValue(log.headers, 'referer'), quote);
  return withJson(members, ',"http_headers":', log.headers.length === 0 ? undefined : headerList(log.headers, quote));
}

/** A path is no URL, so it is left out of `url_string`; what cannot be taken apart stands there as it is. */
function url({ url: parts, quote }: EventFacts, { ofUrl }: HostTexts): string {
  if (parts === undefined) {
    return '';
  }
  const { original, scheme, host, path } = parts;
  const isPath = scheme === undefined && path !== undefined;
  let members = isPath ? '' : withText('', ',"url_string":', original, quote);
  members = withText(members, ',"scheme":', scheme, quote);
  // Where there is a host there is a scheme before it.
  members = host === undefined ? members : `${members},${ofUrl(host)}`;
  members = withJson(members, ',"port":', parts.port);
  members = withText(members, ',"path":', path, quote);
  return withText(members, ',"query_string":', parts.query, quote);
}

function headerList(headers: readonly LogHeader[], quote: Quote): string {
  let entries = '';
  for (const { name, value } of headers) {
    entries += `${entries === '' ? '' : ','}{"name":${quote(name)},"value":${quote(value)}}`;
  }
  return `[${entries}]`;
}
