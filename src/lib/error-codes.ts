/** Handlers for expected errors of the file system, by their codes. */

/** Returns a handler that returns null for errors with one of these codes. It rethrows others. */
export function ignoreCodes(...codes: string[]) {
  return (error: unknown): null => {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return null;
  };
}

/** Ignores that a file or folder is missing. */
export const ignoreMissing = ignoreCodes("ENOENT");

/** Ignores that a file or a folder on the way to it is missing. */
export const ignoreMissingPath = ignoreCodes("ENOENT", "ENOTDIR");

/** Returns whether a call of the system has failed, rather than a check of what it returned. */
export const isSystemError = (error: unknown): boolean => typeof (error as NodeJS.ErrnoException)?.syscall === "string";

/** Returns whether a promise is fulfilled. */
export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );
