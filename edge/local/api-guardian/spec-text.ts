import { isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { endOfString, scanJson } from '../../json-scan.ts';
import { shown } from '../../shown-value.ts';
import { isDecimal, SpecNumber } from './spec-number.ts';
import { isJsonObject, MAX_DEPTH, member, SpecFault, type SpecObject, specFaultAt, toJsonTree } from './spec-tree.ts';

type YamlDocument = ReturnType<typeof parseDocument>;

const FLOAT = 'tag:yaml.org,2002:float';

/** Keeps the digits of numbers, those too large for a double, too, and of keys that YAML takes for something else than a text. */
function keepSources(document: YamlDocument): void {
  visit(document, {
    Scalar(place, scalar) {
      const { value, source, tag } = scalar;
      if (source === undefined) return;
      if (place === 'key') {
        if (typeof value !== 'string' && typeof value !== 'symbol') scalar.value = source;
      } else if (typeof value === 'bigint' || (typeof value === 'number' && (Number.isFinite(value) || isDecimal(source)))) {
        scalar.value = new SpecNumber(source, value);
      } else if (tag === FLOAT && typeof value === 'string' && isDecimal(source)) {
        // The package takes `!!float 1` for a text, because it has no point.
        scalar.value = new SpecNumber(source, Number(source));
      }
    },
  });
}

/** Finds doubled keys in linear time. The package's own search compares every key with every other. */
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

/** The package would name a function that its own users have for them. */
const SECOND_DOCUMENT = 'a second YAML document begins here; allowed: one specification, as one document';

function parseYaml(text: string): unknown {
  const lines = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `line ${line}, column ${col}`;
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    merge: true,
    logLevel: 'error',
    intAsBigInt: true,
  });
  const wrong = document.errors.map(({ code, message, pos }) => {
    const says = code === 'MULTIPLE_DOCS' ? SECOND_DOCUMENT : message;
    return { field: 'content', message: `${at(pos[0])}: ${says}` };
  });
  if (wrong.length > 0) throw new SpecFault(wrong);
  keepSources(document);
  const doubled = isMap(document.contents) ? doubledKeys(document) : [];
  if (doubled.length > 0) {
    throw new SpecFault(
      doubled.map(({ key, offset }) => ({ field: 'content', message: `${at(offset)}: the key ${shown(key)} is there twice` })),
    );
  }
  // Aliases are shared here. `toJsonTree` writes them out and counts them.
  return document.toJS({ maxAliasCount: -1 });
}

/** Undefined for a text that is not JSON: a YAML map may have braces, too, and YAML's errors name the line. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads a text that is JSON once more, with the digits of its numbers. */
function parseDigits(json: string): unknown {
  return JSON.parse(json, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new SpecNumber(context?.source ?? String(value), value) : value,
  );
}

/** The end of a comment that begins at a slash; the same index where none does. */
function endOfComment(text: string, at: number): number {
  if (text.startsWith('//', at)) return at + (/[\n\r]/.exec(text.slice(at))?.index ?? text.length);
  if (!text.startsWith('/*', at)) return at;
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? text.length : end + 2;
}

/** Throws SpecFault for JSON with comments: YAML would take them for parts of keys, or report something else. */
function refuseComments(text: string): void {
  const signs = /["/]/g;
  const kept: string[] = [];
  const comments: number[] = [];
  let from = 0;
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    const at = found.index;
    const end = endOfComment(text, at);
    if (found[0] === '"') signs.lastIndex = endOfString(text, at) + 1;
    else if (end > at) {
      kept.push(text.slice(from, at));
      comments.push(at);
      from = end;
      signs.lastIndex = end;
    }
  }
  const [first] = comments;
  // Those who write comments write commas at the end of lists, too.
  const json = [...kept, text.slice(from)].join(' ').replaceAll(/,(?=\s*[}\]])/g, '');
  if (first === undefined || parseJson(json) === undefined) return;
  const lines = text.slice(0, first).split('\n');
  const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  throw specFaultAt('', `${place}: it is JSON with comments; allowed: JSON without comments, or YAML, whose comments begin with #`);
}

const ANY = Number.POSITIVE_INFINITY;

function parseText(text: string): unknown {
  const isLikeJson = /^\s*[{/]/.test(text);
  const value = isLikeJson ? parseJson(text) : undefined;
  if (value !== undefined) {
    const { tooCostly, repeatedKey } = scanJson(text, { values: ANY, keys: ANY, depth: MAX_DEPTH });
    if (repeatedKey !== null) throw specFaultAt('', `the key ${shown(repeatedKey)} is there twice in one object`);
    // Reading the digits of a deeper text overflows the stack. `toJsonTree` refuses it with its place.
    return tooCostly === null ? parseDigits(text) : value;
  }
  if (isLikeJson) refuseComments(text);
  try {
    return parseYaml(text);
  } catch (error) {
    // An alias before its anchor is only found when aliases are followed.
    if (error instanceof ReferenceError) throw specFaultAt('', error.message);
    throw error;
  }
}

/** Takes `version: 1.0` and `title: 2024` for texts, which authors of YAML leave without quotes. */
function withTextsOfInfo(tree: SpecObject): SpecObject {
  const info = member(tree, 'info');
  if (!isJsonObject(info)) return tree;
  const texts = Object.entries(info).map(([key, value]) => [key, value instanceof SpecNumber ? value.source : value] as const);
  return { ...tree, info: Object.fromEntries(texts) };
}

/** Parses a specification in JSON or YAML. Throws SpecFault with line and column, or with a pointer. */
export function parseSpecText(text: string): SpecObject {
  const tree = toJsonTree(parseText(text.replace(/^\uFEFF/, '')));
  if (!isJsonObject(tree)) throw specFaultAt('', 'it is not an object; allowed: an OpenAPI 3.0 or 3.1 specification as JSON or YAML');
  return withTextsOfInfo(tree);
}
