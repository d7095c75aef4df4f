import { cut, shown } from '../../shown-value.ts';
import { isJsonObject, type JsonObject, type JsonTree, listMember, member, objectMember } from './json-tree.ts';
import { faultAt, memberOf } from './spec-fault.ts';
import { follow } from './spec-reference.ts';

/** How a caller of an endpoint shows who it is. */
export interface AuthScheme {
  readonly schemeName: string;
  /** The header, query parameter or cookie that carries it. */
  readonly credentialName: string;
  /** `bearer`, `basic`, …; empty where it is not carried in `Authorization`. */
  readonly httpScheme: string;
}

const SCHEMES = '/components/securitySchemes';

function text(value: JsonTree | undefined): string {
  return typeof value === 'string' ? value : '';
}

function readScheme(root: JsonObject, schemeName: string): AuthScheme {
  const written = member(objectMember(objectMember(root, 'components'), 'securitySchemes'), schemeName) ?? null;
  const { value } = follow(root, { value: written, pointer: memberOf(SCHEMES, schemeName) });
  switch (member(value, 'type')) {
    case 'apiKey':
      return { schemeName, credentialName: text(member(value, 'name')), httpScheme: '' };
    case 'http':
      return { schemeName, credentialName: 'Authorization', httpScheme: text(member(value, 'scheme')).toLowerCase() };
    default:
      // OAuth 2 and OpenID Connect hand out bearer tokens.
      return { schemeName, credentialName: 'Authorization', httpScheme: 'bearer' };
  }
}

/**
 * Every scheme that the operation at `pointer` takes, alone or together with others: its own `security`, else that of the whole
 * specification. Throws SpecFault for a scheme that is not declared.
 */
export function authSchemes(root: JsonObject, operation: JsonObject, pointer: string): readonly AuthScheme[] {
  const isOwn = member(operation, 'security') !== undefined;
  const place = isOwn ? `${pointer}/security` : '/security';
  const declared = objectMember(objectMember(root, 'components'), 'securitySchemes');
  const names = new Set<string>();
  for (const [index, requirement] of listMember(isOwn ? operation : root, 'security').entries()) {
    for (const name of isJsonObject(requirement) ? Object.keys(requirement) : []) {
      if (!Object.hasOwn(declared, name)) {
        const known = cut(Object.keys(declared).slice(0, 20).join(', '), 500);
        throw faultAt(
          memberOf(memberOf(place, index), name),
          `${shown(name)} is not declared in #${SCHEMES}; allowed: ${known === '' ? 'nothing, as none is' : known}`,
        );
      }
      names.add(name);
    }
  }
  return [...names].map((name) => readScheme(root, name));
}
