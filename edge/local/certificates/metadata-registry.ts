/**
 * The three functions of the abandoned metadata proposal (`Reflect.getMetadata` and its kin) that tsyringe, below @peculiar/x509, asks for
 * when it is loaded. To be imported before that package; leaves a real implementation alone where there is one.
 */
const ENTRIES = new WeakMap<object, Map<unknown, unknown>>();

function ownMetadata(key: unknown, target: object): unknown {
  return ENTRIES.get(target)?.get(key);
}

function inheritedMetadata(key: unknown, target: object): unknown {
  for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at)) {
    const found = ownMetadata(key, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function setMetadata(key: unknown, value: unknown, target: object): void {
  const entries = ENTRIES.get(target) ?? new Map<unknown, unknown>();
  ENTRIES.set(target, entries.set(key, value));
}

if (!('getMetadata' in Reflect)) {
  Object.assign(Reflect, { getMetadata: inheritedMetadata, getOwnMetadata: ownMetadata, defineMetadata: setMetadata });
}
