export function takeInstallLock(path: string, onWait: (pid: number) => void): Promise<() => void>;
