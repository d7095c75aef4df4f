import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { yamlFileFault } from '../../ingest/mapping/yaml-file.ts';
import { faultsOfFile, WrongYaml } from '../../ingest/mapping/yaml-tree.ts';
import type { AlertRule } from '../rule.ts';
import { readRule } from '../rule-file.ts';
import type { RuleText } from './rule-evaluation.ts';

export interface RuleFolder {
  /** The files that are right, by their names. */
  readonly rules: readonly RuleText[];
  /** The names of those that are wrong; `all` where the folder cannot be read. */
  readonly wrongFiles: readonly string[] | 'all';
  /** A line for each fault, which names the file. */
  readonly faults: readonly string[];
}

export interface RuleFolderOptions {
  /** Says what of a rule that is right by itself is wrong here. */
  readonly faultsOf?: (rule: AlertRule) => readonly string[];
  /** Whether the folder need not be there. */
  readonly mayLack: boolean;
}

/** Reads the rules of a folder, files NAME.yaml. Other files may lie beside them, such as a README. */
export function readRuleFolder(folder: string, { faultsOf = () => [], mayLack }: RuleFolderOptions): RuleFolder {
  const rules: RuleText[] = [];
  const wrong = new Map<string, readonly string[]>();
  const fileOf = new Map<string, string>();
  try {
    for (const file of readdirSync(folder)
      .filter((name) => /\.ya?ml$/i.test(name))
      .sort()) {
      try {
        const path = join(folder, file);
        const fault = yamlFileFault(path);
        if (fault !== null) throw new WrongYaml([fault]);
        const text = readFileSync(path, 'utf8');
        const rule = readRule(text);
        const other = fileOf.get(rule.name);
        const twice = other === undefined ? [] : [`name is ${JSON.stringify(rule.name)}, as in ${other}; allowed: a name of its own`];
        const faults = [...twice, ...faultsOf(rule)];
        if (faults.length > 0) throw new WrongYaml(faults);
        fileOf.set(rule.name, file);
        rules.push({ file, text });
      } catch (error) {
        wrong.set(file, error instanceof WrongYaml ? error.faults : [unreadable(error)]);
      }
    }
  } catch (error) {
    if (mayLack && (error as NodeJS.ErrnoException).code === 'ENOENT') return { rules: [], wrongFiles: [], faults: [] };
    return { rules: [], wrongFiles: 'all', faults: [`${folder} ${unreadable(error)}`] };
  }
  const faults = [...wrong].flatMap(([file, ofFile]) => faultsOfFile(join(folder, file), ofFile));
  return { rules, wrongFiles: [...wrong.keys()], faults };
}

function unreadable(error: unknown): string {
  const { errno } = error as NodeJS.ErrnoException;
  if (errno === undefined) throw error;
  return `cannot be read: ${getSystemErrorMessage(errno)}`;
}
