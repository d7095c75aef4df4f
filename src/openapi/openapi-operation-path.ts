/** A path of the table as the document writes it: `/pullzone/{id}/removeHostname`. */
export function documentedPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}
