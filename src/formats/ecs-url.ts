import type { EventFacts } from './event-facts.ts';
import { withJson, withText } from './json-members.ts';

/** The members of `url`. A request of which only the path is known has the host that it was sent to as its domain. */
export function ecsUrl({ url, host, quote }: EventFacts): string {
  let members = withText('', ',"domain":', host?.name, quote);
  members = withText(members, ',"registered_domain":', host?.registeredDomain, quote);
  members = withText(members, ',"top_level_domain":', host?.topLevelDomain, quote);
  members = withText(members, ',"subdomain":', host?.subdomain, quote);
  if (url === undefined) {
    return members;
  }
  const { original, scheme, query } = url;
  members = withText(members, ',"original":', original, quote);
  members = scheme === undefined ? members : withText(members, ',"full":', original, quote);
  members = withText(members, ',"scheme":', scheme, quote);
  members = withText(members, ',"username":', url.username, quote);
  members = withJson(members, ',"port":', url.port);
  members = withText(members, ',"path":', url.path, quote);
  // Empty says that there was a question mark.
  members = query === undefined ? members : withJson(members, ',"query":', quote(query));
  members = withText(members, ',"extension":', url.extension, quote);
  return withText(members, ',"fragment":', url.fragment, quote);
}
