import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Folder, folders, importRules, layersAbove } from './import-rules.ts';
import { type Finding, formatFile, lintFiles } from './lint-folder.ts';
import { FOLDERS, INNER_FOLDERS, MAY_IMPORT, MAY_USE, OFFLINE_FILES, STORES, TOP_FILES } from './room-table.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const RULES_FILE = join(CHECKOUT, 'test/rooms/biome.rooms.json');

const RULE = 'lint/style/noRestrictedImports';
const ROOMS = [...Object.keys(MAY_IMPORT), 'scripts'];

/** Every way TypeScript has of importing a module. */
const FORMS: Readonly<Record<string, (from: string) => string>> = {
  import: (from) => `import { concept } from '${from}';\nexport const used = concept;\n`,
  'import-type': (from) => `import type { Concept } from '${from}';\nexport type Used = Concept;\n`,
  'side-effect': (from) => `import '${from}';\n`,
  'export-from': (from) => `export { concept } from '${from}';\n`,
  'dynamic-import': (from) => `export const later = import('${from}');\n`,
};

/** A file in the room itself and one two folders further down, which needs a longer way out. */
const DEPTHS = [
  { name: 'at the top', folder: '', out: '../' },
  { name: 'two folders down', folder: 'inner/most/', out: '../../../' },
];

interface Case {
  readonly room: string;
  readonly target: string;
  readonly file: string;
  readonly text: string;
  readonly allowed: boolean;
  readonly sentence: string;
}

const slug = (text: string) => text.replaceAll(/[^a-z]+/g, '-');

const roomCases: readonly Case[] = Object.entries(MAY_IMPORT).flatMap(([room, allowedTargets]) =>
  ROOMS.filter((target) => target !== room).flatMap((target) =>
    DEPTHS.flatMap(({ name, folder, out }) =>
      Object.entries(FORMS).map(([form, write]) => {
        const allowed = allowedTargets.includes(target);
        const file = `${room}/${folder}${form}-of-${target}.ts`;
        const sentence = `${room}/ ${allowed ? 'may' : 'must not'} import ${target}/ (${form}, ${name})`;
        return { room, target, file, text: write(`${out}${target}/concept.ts`), allowed, sentence };
      }),
    ),
  ),
);

const packageCases: readonly Case[] = Object.entries(MAY_USE).flatMap(([target, rooms]) =>
  Object.keys(MAY_IMPORT).map((room) => {
    const allowed = rooms.includes(room);
    const file = `${room}/use-of-${slug(target)}.ts`;
    return {
      room,
      target,
      file,
      text: `import '${target}';\n`,
      allowed,
      sentence: `${room}/ ${allowed ? 'may' : 'must not'} use ${target}`,
    };
  }),
);

const insideCases: readonly Case[] = Object.keys(MAY_IMPORT).map((room) => ({
  room,
  target: room,
  file: `${room}/inner/neighbour.ts`,
  text: "import '../concept.ts';\nimport './sibling.ts';\n",
  allowed: true,
  sentence: `${room}/ may import its own files`,
}));

/** Each room that uses stores, and a folder of it, does not know one; those files do. */
const storeCases: readonly Case[] = STORES.flatMap((target) => [
  ...['ingest', 'src'].flatMap((room) =>
    [room, `${room}/${FOLDERS[room]?.at(-1)}`].map((folder) => storeCase(room, target, `${folder}/knows-${target}.ts`, false)),
  ),
  ...OFFLINE_FILES.map((file) => storeCase('src', target, file, true)),
]);

function storeCase(room: string, target: string, file: string, allowed: boolean): Case {
  const text = `import '${posix.relative(posix.dirname(file), `store/${target}/concept.ts`)}';\n`;
  return { room, target, file, text, allowed, sentence: `${file} ${allowed ? 'may' : 'must not'} import store/${target}/` };
}

const CASES = [...roomCases, ...packageCases, ...insideCases, ...storeCases];

/** A file of each folder for each other folder of its order, and one that imports a file beside it. */
function casesOf(folder: Folder) {
  const { path, area, layer } = folder;
  const above = layersAbove(folder);
  return [...(FOLDERS[area] ?? []), 'neighbour'].map((target) => {
    const to = target === 'neighbour' || target === layer ? path : posix.join(area, target);
    const from = posix.relative(path, `${to}/concept.ts`);
    const file = `${path}/folder-import-of-${slug(target === '.' ? 'files-beside' : target)}.ts`;
    const allowed = !above.includes(target);
    return {
      path,
      file,
      text: FORMS['import']?.(from.startsWith('.') ? from : `./${from}`) ?? '',
      allowed,
      sentence: `${path}/ ${allowed ? 'may' : 'must not'} import ${to}/`,
    };
  });
}

const topCases = TOP_FILES.map((file) => {
  const path = posix.dirname(file);
  const top = FOLDERS[path]?.[0] ?? '';
  return { path, file, text: `import './${top}/concept.ts';\n`, allowed: true, sentence: `${file} may import ${top}/` };
});
const FOLDER_CASES = [...folders().flatMap(casesOf), ...topCases];

let findings: ReadonlyMap<string, readonly Finding[]>;

beforeAll(async () => {
  const concepts = ROOMS.map((room): [string, string] => [`${room}/concept.ts`, 'export const concept = 1;\nexport type Concept = 1;\n']);
  const inFolders = folders().map(({ path }): [string, string] => [`${path}/concept.ts`, 'export const concept = 1;\n']);
  const files = new Map([
    ...inFolders,
    ...concepts,
    ...[...CASES, ...FOLDER_CASES].map(({ file, text }): [string, string] => [file, text]),
  ]);
  findings = Map.groupBy(await lintFiles(files), ({ file }) => file);
});

describe('room rules', () => {
  test.each(CASES)('$sentence', ({ room, file, allowed }) => {
    const broken = (findings.get(file) ?? []).filter(({ rule }) => rule === RULE);
    if (allowed) {
      expect(broken).toEqual([]);
    } else {
      expect(broken).toHaveLength(1);
      expect(broken[0]?.message).toMatch(new RegExp(`^Room rule: ${room}/ `));
    }
  });
});

describe('the order of the folders', () => {
  test.each(FOLDER_CASES)('$sentence', ({ path, file, allowed }) => {
    const broken = (findings.get(file) ?? []).filter(({ rule }) => rule === RULE);
    expect(broken.map(({ message }) => message)).toEqual(
      allowed ? [] : [expect.stringContaining(`Folder rule: ${path}/ must not import what is above it: `)],
    );
  });

  test('has every folder with a module in it', () => {
    const areas = [...new Set(Object.keys(FOLDERS).map((area) => area.split('/')[0] ?? area))];
    const modules = areas.flatMap((area) =>
      readdirSync(join(CHECKOUT, area), { recursive: true, encoding: 'utf8' })
        .map((path) => posix.join(area, path.replaceAll('\\', '/')))
        .filter((path) => path.endsWith('.ts') && !/\/(node_modules|kernel)\//.test(path)),
    );
    const known = [...folders().map(({ path }) => path), ...INNER_FOLDERS];
    expect(modules.map((path) => posix.dirname(path)).filter((path) => !known.includes(path))).toEqual([]);
  });

  test.each(Object.entries(FOLDERS))('CONTRIBUTING.md has it for %s/', (area, layers) => {
    const names = layers.map((layer) => (layer === '.' ? 'its own files' : `\`${layer}/\``)).join(' > ');
    const rows = readFileSync(join(CHECKOUT, 'CONTRIBUTING.md'), 'utf8').split('\n');
    expect(rows.map((row) => row.replaceAll(/ +/g, ' '))).toContain(`| \`${area}/\` | ${names} |`);
  });

  test('the tests of a folder are in the folder of the same name under test/', () => {
    const tests = ROOMS.filter((room) => room !== 'test').flatMap((room) =>
      existsSync(join(CHECKOUT, 'test', room))
        ? readdirSync(join(CHECKOUT, 'test', room), { recursive: true, encoding: 'utf8' }).map((path) => posix.join(room, path))
        : [],
    );
    const folders = new Set(tests.filter((path) => path.endsWith('.test.ts')).map((path) => posix.dirname(path)));
    expect(folders.size).toBeGreaterThan(30);
    expect([...folders].filter((folder) => !existsSync(join(CHECKOUT, folder)))).toEqual([]);
  });

  test('test/rooms/biome.rooms.json has the rules of the table; UPDATE_ROOMS=1 writes it anew', () => {
    const overrides = importRules();
    if (process.env['UPDATE_ROOMS'] !== undefined) {
      writeFileSync(RULES_FILE, JSON.stringify({ overrides }));
      formatFile(RULES_FILE);
    }
    expect(JSON.parse(readFileSync(RULES_FILE, 'utf8'))).toEqual({ overrides });
  });
});

describe('the other rules of the house', () => {
  const offences: readonly (readonly [rule: string, sentence: string, files: Readonly<Record<string, string>>])[] = [
    [
      'lint/suspicious/noImportCycles',
      'two files that import each other',
      {
        'store/a.ts': "import { b } from './b.ts';\nexport const a = b;\n",
        'store/b.ts': "import { a } from './a.ts';\nexport const b = a;\n",
      },
    ],
    ['lint/nursery/noFloatingPromises', 'a promise that nobody waits for', { 'store/a.ts': 'async function work() {}\nwork();\n' }],
    ['lint/style/noExcessiveLinesPerFile', 'a file of 401 lines', { 'store/a.ts': 'export {};\n'.repeat(401) }],
    ['lint/complexity/noExcessiveCognitiveComplexity', 'a function with too many turns', { 'store/a.ts': nested(7) }],
  ];

  test.each(offences)('%s refuses %s', async (rule, _sentence, files) => {
    const found = await lintFiles(new Map(Object.entries(files)));
    expect(found.map((finding) => finding.rule)).toContain(rule);
  });
});

describe('what tests draw at random', () => {
  const refused: readonly string[] = [
    'export const id = Math.random();',
    'export const draw = { random: Math.random };',
    "import { randomBytes } from 'node:crypto';\nexport const noise = randomBytes(8);",
    "import { randomUUID } from 'node:crypto';\nexport const id = randomUUID();",
    "import { randomInt } from 'node:crypto';\nexport const ids = [1, 2].map(() => randomInt(8));",
    "import crypto from 'node:crypto';\nexport const id = crypto.randomUUID();",
    'export const noise = crypto.getRandomValues(new Uint8Array(8));',
    'export const seed = Date.now();',
    'export const options = { seed: Date.now() | 0 };',
    'export const firstOf = (all: readonly string[]) => all[Date.now() % all.length];',
    "import fc from 'fast-check';\nfc.assert(fc.property(fc.nat(), () => true));",
    "import fc from 'fast-check';\nexport const details = fc.check(fc.property(fc.nat(), () => true));",
  ];
  const taken: readonly string[] = [
    "import fc from 'fast-check';\nexport const holds = fc.property(fc.nat(), () => true);",
    "import { seededBytes } from '../random/run-seed.ts';\nexport const noise = seededBytes(8);",
    'export const options = { seed: 3, nowMs: Date.now() };',
  ];

  test('is refused where it does not come from the seed of the run', async () => {
    const cases = [...refused, ...taken].map((text, index) => [`test/query/case-${index}.ts`, `${text}\n`] as const);
    const found = (await lintFiles(new Map(cases))).filter(({ rule }) => rule === 'plugin');
    expect(new Set(found.map(({ file }) => file))).toEqual(new Set(cases.slice(0, refused.length).map(([file]) => file)));
    expect(found[0]?.message).toContain('test/random/run-seed.ts');
  });
});

describe('the file names of a module', () => {
  const taken: readonly string[] = [
    'export const root = import.meta.dirname;',
    "import { fileURLToPath } from 'node:url';\nexport const root = fileURLToPath(new URL('..', import.meta.url));",
    "import { fileURLToPath } from 'node:url';\nexport const here = fileURLToPath(import.meta.url);",
    "import { createRequire } from 'node:module';\nexport const load = createRequire(import.meta.url);",
    "export const worker = new URL('./worker.ts', import.meta.url).href;",
    'export const path = (address: string) => new URL(address).pathname;',
    "const script = new URL('./a.ts', import.meta.url);\nconst jar = new URL('https://example.org/a.jar');\n" +
      'export const both = [script.href, jar.pathname];',
    "export const worker = new URL('./a.ts', import.meta.url);\nconst { pathname } = new URL('https://example.org/a.jar');\n" +
      'export { pathname };',
  ];
  const refused: readonly string[] = [
    "export const root = new URL('..', import.meta.url).pathname;",
    "const folder = new URL('..', import.meta.url);\nexport const root = folder.pathname;",
    "const { pathname } = new URL('..', import.meta.url);\nexport const root = pathname;",
    "const { pathname: root } = new URL('..', import.meta.url);\nexport { root };",
    "const folder = new URL('..', import.meta.url);\nconst { pathname } = folder;\nexport { pathname };",
    'export const here = new URL(import.meta.url).pathname;',
    "export const here = import.meta.url.slice('file://'.length);",
    "export const here = import.meta.url.replace('file://', '');",
  ];
  const ROOM_OF_ENDING = { ts: 'store', mjs: 'scripts', js: 'web' };
  const cases = Object.entries(ROOM_OF_ENDING).flatMap(([ending, room]) =>
    [...taken.map((text) => ({ text, allowed: true })), ...refused.map((text) => ({ text, allowed: false }))]
      .filter(({ text }) => ending === 'ts' || !text.includes(': string'))
      .map((one, index) => ({ ...one, file: `${room}/file-${index}.${ending}` })),
  );
  let found: ReadonlyMap<string, readonly Finding[]>;

  beforeAll(async () => {
    found = Map.groupBy(await lintFiles(new Map(cases.map(({ file, text }) => [file, `${text}\n`]))), ({ file }) => file);
  });

  test.each(cases)('in $file may come from this: $allowed: $text', ({ file, allowed }) => {
    const offences = (found.get(file) ?? []).filter(({ rule }) => rule === 'plugin');
    if (allowed) expect(offences).toEqual([]);
    else expect(offences.map(({ message }) => message).join()).toContain('The path of a URL is no file name');
  });
});

function nested(depth: number): string {
  return `export function turn(a: number) {\n${'if (a > 1) {\n'.repeat(depth)}a++;\n${'}\n'.repeat(depth)}return a;\n}\n`;
}
