import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import type { Mapping } from './mapping.ts';
import { readMapping } from './mapping-file.ts';
import { yamlFileFault } from './yaml-file.ts';
import { faultsOfFile, WrongYaml } from './yaml-tree.ts';

/** A mapping with the file that it was read from. */
export interface NamedMapping {
  readonly mapping: Mapping;
  readonly file: string;
  /** The text of that file. */
  readonly text: string;
  readonly isPreset: boolean;
}

export type NamedMappings = ReadonlyMap<string, NamedMapping>;

const PRESETS = join(import.meta.dirname, 'presets');
const NAME = /^([a-z0-9][a-z0-9_-]{0,63})\.yaml$/i;
const NAME_FORM = 'NAME.yaml, its name of 1 to 64 letters, digits, - and _';

/**
 * The presets and, unless `folder` is null, the mappings of its files NAME.yaml, by their names. Throws WrongYaml with a line for each
 * fault, which names the file.
 */
export function loadMappings(folder: string | null): NamedMappings {
  const presets = mappingsIn(PRESETS, new Map());
  return folder === null ? presets : new Map([...presets, ...mappingsIn(folder, presets)]);
}

/** Reads one file, which may begin with a preset, whatever its name is. Throws WrongYaml. */
export function loadMapping(file: string, name: string, presets: NamedMappings): NamedMapping {
  const text = readText(file);
  const mappings = new Map([...presets].filter(([, { isPreset }]) => isPreset).map(([preset, { mapping }]) => [preset, mapping]));
  try {
    return { mapping: readMapping(name, text, mappings), file, text, isPreset: false };
  } catch (error) {
    if (!(error instanceof WrongYaml)) throw error;
    throw new WrongYaml(faultsOfFile(file, error.faults));
  }
}

function mappingsIn(folder: string, presets: NamedMappings): NamedMappings {
  const isPreset = folder === PRESETS;
  const found = new Map<string, NamedMapping>();
  const faults: string[] = [];
  for (const file of fileNames(folder)) {
    const path = join(folder, file);
    const [, name] = NAME.exec(file) ?? [];
    if (name === undefined) faults.push(`${path}: the name of the file is not allowed; allowed: ${NAME_FORM}`);
    else if (presets.has(name)) faults.push(`${path}: a preset has this name; allowed: another name, and preset: ${name} in the file`);
    else {
      try {
        const fault = reading(path, () => yamlFileFault(path));
        if (fault !== null) throw new WrongYaml([`${path}, ${fault}`]);
        found.set(name, { ...loadMapping(path, name, presets), isPreset });
      } catch (error) {
        if (!(error instanceof WrongYaml)) throw error;
        faults.push(...error.faults);
      }
    }
  }
  if (faults.length > 0) throw new WrongYaml(faults);
  return found;
}

/** Other files may lie beside the mappings, such as a README. */
function fileNames(folder: string): readonly string[] {
  return reading(folder, () => readdirSync(folder).filter((name) => /\.ya?ml$/i.test(name))).sort();
}

function readText(file: string): string {
  return reading(file, () => readFileSync(file, 'utf8'));
}

function reading<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw error;
    throw new WrongYaml([`${path} cannot be read: ${getSystemErrorMessage(errno)}`]);
  }
}
