import { Composer, type CST, isAlias, isMap, isScalar, Lexer, LineCounter, type Node, Parser } from 'yaml';

/** A file of YAML is wrong: a mapping, or a rule of alerts. Each fault names its line. */
export class WrongYaml extends Error {
  override readonly name = 'WrongYaml';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** A file about something else may have a fault on every line. */
const MOST_FAULTS_TOLD = 20;

/** Faults of a file with its name: the first ones, and how many more there are. */
export function faultsOfFile(file: string, faults: readonly string[]): readonly string[] {
  const told = faults.slice(0, MOST_FAULTS_TOLD).map((fault) => `${file}, ${fault}`);
  const more = faults.length - told.length;
  return more === 0 ? told : [...told, `${file}: ${more} more`];
}

/** Faults in the order of the lines that they begin with. */
export function inLineOrder(faults: readonly string[]): readonly string[] {
  const lineIn = (fault: string): number => Number(/^line (\d+)/.exec(fault)?.[1]);
  return faults.toSorted((one, other) => lineIn(one) - lineIn(other));
}

/** What stands in a YAML file, with the lines, from 1. A scalar is its text as it is written, so that no digit is lost. */
export type YamlTree =
  | { readonly kind: 'text'; readonly line: number; readonly text: string; readonly isNull: boolean }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly YamlTree[] }
  | { readonly kind: 'map'; readonly line: number; readonly members: readonly YamlMember[] };

export interface YamlMember {
  readonly line: number;
  readonly key: string;
  readonly value: YamlTree;
}

/** The largest file of a mapping. A table of zones may be long. */
export const LARGEST_MAPPING_BYTES = 1024 * 1024;
const MOST_LEVELS = 20;
const TOO_DEEP = `more than ${MOST_LEVELS} levels inside one another; allowed: at most so many`;

export function tooLargeYaml(sizeBytes: number): string {
  return `line 1: the file has ${sizeBytes} bytes: at most ${LARGEST_MAPPING_BYTES} are allowed`;
}

/** Reads the one document of a YAML text without aliases, tags or doubled keys. Throws WrongYaml. */
export function readYaml(text: string): YamlTree {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > LARGEST_MAPPING_BYTES) {
    throw new WrongYaml([tooLargeYaml(sizeBytes)]);
  }
  const lines = new LineCounter();
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, merge: false, logLevel: 'error' });
  const [document, second] = composer.compose(tokensIn(text, lines), true, text.length);
  const twice = second && { message: 'a second YAML document begins here; allowed: one', pos: second.range };
  const found = [...(document?.errors ?? []), ...(twice === undefined ? [] : [twice]), ...(document?.warnings ?? [])];
  const faults = found.map(({ message, pos }) => `line ${lineAt(pos[0])}: ${message}`);
  if (faults.length > 0) throw new WrongYaml(faults);
  return treeOf(document?.contents ?? null, lineAt, 1);
}

/**
 * The concrete syntax of a text for the composer, which goes by recursion into what is inside one another. Throws WrongYaml at the first
 * part that is deeper than any mapping. Brackets in texts and comments are no parts.
 */
function* tokensIn(text: string, lines: LineCounter): Generator<CST.Token> {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    const innermost = parser.stack.at(-1);
    // The document itself is around all others.
    if (innermost === undefined || parser.stack.length <= MOST_LEVELS + 1) continue;
    throw new WrongYaml([`line ${lines.linePos(innermost.offset).line}: ${TOO_DEEP}`]);
  }
  yield* parser.end();
}

function treeOf(node: Node | null, lineAt: (offset: number) => number, level: number): YamlTree {
  const line = lineAt(node?.range?.[0] ?? 0);
  const refuse = (what: string): never => {
    throw new WrongYaml([`line ${line}: ${what}`]);
  };
  if (node === null) return { kind: 'text', line, text: '', isNull: true };
  if (isAlias(node)) return refuse(`the alias *${node.source} is not allowed; allowed: what it stands for, written out`);
  if (node.tag !== undefined) return refuse(`the tag ${node.tag} is not allowed; allowed: no tags`);
  if (level > MOST_LEVELS) return refuse(TOO_DEEP);
  if (isScalar(node)) {
    const isText = typeof node.value === 'string';
    return { kind: 'text', line, text: isText ? (node.value as string) : (node.source ?? ''), isNull: node.value === null };
  }
  if (!isMap(node)) {
    return { kind: 'list', line, items: (node as unknown as { items: Node[] }).items.map((item) => treeOf(item, lineAt, level + 1)) };
  }
  const keys = new Set<string>();
  const members = node.items.map((pair): YamlMember => {
    const key = treeOf(pair.key as Node, lineAt, level + 1);
    if (key.kind !== 'text') throw new WrongYaml([`line ${key.line}: a ${key.kind} is no key; allowed: a text`]);
    if (keys.has(key.text)) throw new WrongYaml([`line ${key.line}: the key ${JSON.stringify(key.text)} is there twice; allowed: once`]);
    keys.add(key.text);
    return { line: key.line, key: key.text, value: treeOf((pair.value as Node | null) ?? null, lineAt, level + 1) };
  });
  return { kind: 'map', line, members };
}
