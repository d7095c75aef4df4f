/**
 * Whether `npm ci` must run, from the texts of `package-lock.json` and of the copy that npm writes to `node_modules/.package-lock.json`.
 * File times are not compared, because those of a restored cache or a new checkout are misleading.
 *
 * @param {string} lockText the text of `package-lock.json`
 * @param {string | null} installedText the text of `node_modules/.package-lock.json`, null if there is none
 * @returns {string | null} the reason for an installation, to follow "because"; null if everything is there
 */
export function needsInstall(lockText, installedText) {
  if (installedText === null) return 'nothing is installed yet';
  const wanted = JSON.parse(lockText).packages ?? {};
  let installed;
  try {
    installed = JSON.parse(installedText).packages ?? {};
  } catch {
    return 'the record of what is installed cannot be read';
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue;
    const found = installed[path];
    if (found === undefined) {
      // npm does not install builds for other systems and packages that nothing requires.
      if (entry.optional || entry.devOptional || entry.peer) continue;
      return `${path} is missing`;
    }
    if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${path} is ${found.version}, package-lock.json says ${entry.version}`;
    }
  }
  const extra = Object.keys(installed).find((path) => wanted[path] === undefined);
  return extra === undefined ? null : `${extra} is not in package-lock.json`;
}
