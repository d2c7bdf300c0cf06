/** The public key of releases, as a minisign text. The build replaces this module when OFFCUT_RELEASE_KEY is set. */
export const releaseKey: string | null = null;
