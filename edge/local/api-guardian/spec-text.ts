import { isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { repeatedKey } from '../../json-scan.ts';
import { shown } from '../../shown-value.ts';
import { isJsonObject, type JsonObject, toJsonTree } from './json-tree.ts';
import { faultAt, SpecFault } from './spec-fault.ts';

type YamlDocument = ReturnType<typeof parseDocument>;

/** The package's own search for doubled keys compares every key with every other. */
function doubledKeys(document: YamlDocument): { readonly key: string; readonly offset: number }[] {
  const doubled: { key: string; offset: number }[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name) && name !== '<<') doubled.push({ key: name, offset: key.range?.[0] ?? 0 });
        seen.add(name);
      }
    },
  });
  return doubled;
}

function parseYaml(text: string): unknown {
  const lines = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, merge: true, logLevel: 'error' });
  const wrong = document.errors.map(({ message, pos }) => ({ field: 'content', message: `${at(pos[0])}: ${message}` }));
  if (wrong.length > 0) throw new SpecFault(wrong);
  const doubled = isMap(document.contents) ? doubledKeys(document) : [];
  if (doubled.length > 0) {
    throw new SpecFault(
      doubled.map(({ key, offset }) => ({ field: 'content', message: `${at(offset)}: the key ${shown(key)} is there twice` })),
    );
  }
  // Aliases are shared here, not copied: `toJsonTree` writes them out and counts.
  return document.toJS({ maxAliasCount: -1 });
}

/** Undefined for what is not JSON: a YAML map may be in braces too, and YAML's errors name the line. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parseText(text: string): unknown {
  const value = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  if (value !== undefined) {
    const repeated = repeatedKey(text);
    if (repeated !== null) throw faultAt('', `the key ${shown(repeated)} is there twice in one object`);
    return value;
  }
  try {
    return parseYaml(text);
  } catch (error) {
    // An alias before its anchor is found only while aliases are followed.
    if (error instanceof ReferenceError) throw faultAt('', error.message);
    throw error;
  }
}

/** The specification's text, JSON or YAML, as a tree. Throws SpecFault with line and column, or the place. */
export function parseSpecText(text: string): JsonObject {
  const tree = toJsonTree(parseText(text.replace(/^\uFEFF/, '')));
  if (!isJsonObject(tree)) throw faultAt('', 'it is not an object; allowed: an OpenAPI 3.0 specification as JSON or YAML');
  return tree;
}
