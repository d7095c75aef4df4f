import { posix } from 'node:path';
import { FOLDERS, INNER_FOLDERS, MAY_IMPORT, MAY_USE, OFFLINE_FILES, STORES, TOP_FILES } from './room-table.ts';

interface Restriction {
  readonly group: readonly string[];
  readonly message: string;
}

/** An entry of `overrides` in a Biome configuration that restricts what some files import. */
export interface ImportRule {
  readonly includes: readonly string[];
  readonly linter: {
    readonly rules: {
      readonly style: {
        readonly noRestrictedImports: { readonly level: 'error'; readonly options: { readonly patterns: readonly Restriction[] } };
      };
    };
  };
}

/** How far up a file may have to go to leave its room. */
const WAYS_OUT = [1, 2, 3, 4].map((levels) => '../'.repeat(levels));

/** Rooms that use no packages but those that the table allows them. */
const WITHOUT_PACKAGES: Readonly<Record<string, string>> = {
  query: 'is pure: no packages but ipaddr.js, no I/O, no drivers',
  sql: 'is pure: no packages, no I/O, no drivers',
  alerts: 'has no network: no packages but those for files, SQLite, hashes and time',
  web: 'runs in the browser: no packages but those that the page serves',
};

/** Rooms in which everything may be imported. */
const UNRESTRICTED = ['bench', 'test'];

/**
 * The rules of the table: for each room, then for each folder, which repeats its room's, then for single files: Biome takes the last that
 * fits a file.
 */
export function importRules(): readonly ImportRule[] {
  const rooms = Object.keys(MAY_IMPORT).filter((room) => !UNRESTRICTED.includes(room));
  return [
    ...rooms.map((room) => rule([`${room}/**`], [...roomRestrictions(room), ...storeRestrictions(room)])),
    ...folders().flatMap(folderRule),
    ...OFFLINE_FILES.map(offlineRule),
  ];
}

function rule(includes: readonly string[], patterns: readonly Restriction[]): ImportRule {
  return { includes, linter: { rules: { style: { noRestrictedImports: { level: 'error', options: { patterns } } } } } };
}

function roomRestrictions(room: string): readonly Restriction[] {
  if (UNRESTRICTED.includes(room)) return [];
  const allowed = MAY_IMPORT[room] ?? [];
  const forbidden = [...Object.keys(MAY_IMPORT), 'scripts'].filter((other) => other !== room && !allowed.includes(other));
  const ours = allowed.length === 0 ? 'nothing of ours' : `${inWords(allowed.map((other) => `${other}/`))} only`;
  return [
    {
      group: forbidden.flatMap((other) => WAYS_OUT.map((out) => `${out}${other}/**`)),
      message: `Room rule: ${room}/ may import ${ours}.`,
    },
    ...packageRestrictions(room),
  ];
}

/** Rooms that use a store know it by its interface alone. */
function storeRestrictions(room: string): readonly Restriction[] {
  if (UNRESTRICTED.includes(room) || MAY_IMPORT[room]?.includes('store') !== true) return [];
  const group = STORES.flatMap((store) => WAYS_OUT.map((out) => `${out}store/${store}/**`));
  return [{ group, message: `Room rule: ${room}/ opens a store by store/open-store.ts, and knows it by store/event-store.ts alone.` }];
}

const DRIVERS = 'DuckDB belongs to store/, kafkajs to ingest/, Fastify to src/ and edge/, Preact and uPlot to web/';

function packageRestrictions(room: string): readonly Restriction[] {
  const purity = WITHOUT_PACKAGES[room];
  if (purity !== undefined) {
    const allowed = Object.keys(MAY_USE).filter((name) => MAY_USE[name]?.includes(room));
    return [{ group: ['**', '!./**', '!../**', ...allowed.map((name) => `!${name}`)], message: `Room rule: ${room}/ ${purity}.` }];
  }
  const drivers = Object.keys(MAY_USE).filter((name) => !name.startsWith('node:') && !MAY_USE[name]?.includes(room));
  const message = `Room rule: ${room}/ does not use this driver itself: ${DRIVERS}.`;
  return [{ group: drivers.flatMap((name) => [name, `${name}/**`]), message }];
}

export interface Folder {
  readonly path: string;
  /** The folder in whose order it stands. */
  readonly area: string;
  /** Its name in that order. */
  readonly layer: string;
}

/** Every folder of the table, and those inside of them. */
export function folders(): readonly Folder[] {
  return Object.entries(FOLDERS).flatMap(([area, layers]) =>
    layers
      .filter((layer) => !(`${area}/${layer}` in FOLDERS))
      .flatMap((layer) => {
        const path = posix.join(area, layer);
        const inner = layer === '.' ? [] : INNER_FOLDERS.filter((one) => one.startsWith(`${path}/`));
        return [path, ...inner].map((one) => ({ path: one, area, layer }));
      }),
  );
}

/** Returns the folders above a folder in its order, top first. */
export function layersAbove({ area, layer }: Folder): readonly string[] {
  const layers = FOLDERS[area] ?? [];
  return layers.slice(0, layers.indexOf(layer));
}

function folderRule(folder: Folder): readonly ImportRule[] {
  const restrictions = folderRestrictions(folder);
  if (restrictions.length === 0) return [];
  const { path, area } = folder;
  const includes = [`${path}/*`, ...TOP_FILES.filter((file) => posix.dirname(file) === path).map((file) => `!${file}`)];
  const room = area.split('/')[0] ?? area;
  return [rule(includes, [...roomRestrictions(room), ...storeRestrictions(room), ...restrictions])];
}

/** The rule of a file that knows a store: that of its folder without what is said of stores. */
function offlineRule(file: string): ImportRule {
  const folder = folders().find(({ path }) => path === posix.dirname(file));
  const room = file.split('/')[0] ?? file;
  return rule([file], [...roomRestrictions(room), ...(folder === undefined ? [] : folderRestrictions(folder))]);
}

function folderRestrictions(folder: Folder): readonly Restriction[] {
  const above = layersAbove(folder);
  if (above.length === 0) return [];
  const { path, area } = folder;
  const names = above.map((layer) => (layer === '.' ? `the files of ${area}/` : `${layer}/`));
  const restriction = {
    group: above.map((layer) => (layer === '.' ? `${wayTo(path, area)}/*.ts` : `${wayTo(path, `${area}/${layer}`)}/**`)),
    message: `Folder rule: ${path}/ must not import what is above it: ${inWords(names)}.`,
  };
  return [restriction];
}

/** From one folder to another, as an import writes it. */
function wayTo(from: string, to: string): string {
  const way = posix.relative(from, to);
  return way.startsWith('.') ? way : `./${way}`;
}

function inWords(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(names);
}
