export function needsInstall(lockText: string, installedText: string | null): string | null;
