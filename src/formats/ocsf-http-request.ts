import type { EventFacts } from './event-facts.ts';
import { objectMember, quoteJson, rawMember, textMember } from './json-text.ts';
import { headerValue, type LogHeader } from './log-details.ts';
import type { UrlParts } from './url-parts.ts';

/** Always there, though it may be empty: HTTP Activity is of a request or a response. */
export function httpRequestMember({ event, url, log: { headers } }: EventFacts): string {
  const members =
    (url === undefined ? '' : objectMember('url', urlMembers(url))) +
    textMember('user_agent', event.fields.ua) +
    textMember('referrer', headerValue(headers, 'referer')) +
    headersMember(headers);
  return `,"http_request":{${members.slice(1)}}`;
}

/** A path is no URL, so it is left out of `url_string`; what cannot be taken apart stands there as it is. */
function urlMembers(url: UrlParts): string {
  const { original, scheme, host, path, query } = url;
  const whole = scheme === undefined && path !== undefined ? undefined : original;
  return (
    textMember('url_string', whole) +
    textMember('scheme', scheme) +
    textMember('hostname', host?.name) +
    textMember('domain', host?.registeredDomain) +
    textMember('subdomain', host?.subdomain) +
    rawMember('port', url.port) +
    textMember('path', path) +
    textMember('query_string', query)
  );
}

function headersMember(headers: readonly LogHeader[]): string {
  if (headers.length === 0) {
    return '';
  }
  const entries = headers.map(({ name, value }) => `{"name":${quoteJson(name)},"value":${quoteJson(value)}}`);
  return `,"http_headers":[${entries.join(',')}]`;
}
