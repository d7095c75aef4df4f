/**
 * Whether `npm ci` has to run, decided from the text of two files: `package-lock.json` and the copy that npm leaves in
 * `node_modules/.package-lock.json`. Contents are compared, not file times: a restored cache or a fresh checkout has misleading times.
 *
 * @param {string} lockText the text of `package-lock.json`
 * @param {string | null} installedText the text of `node_modules/.package-lock.json`, null when there is none
 * @returns {string | null} why an installation is needed, in words that follow "because"; null when everything is there
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
      // Builds for other systems and packages nothing asked for stay out of node_modules.
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
