/** How long a deleted account can be restored. */
const GRACE_DAYS = 30;

/** Returns when an account that was deleted at this time is purged. */
export const findPurgeTime = (deletedAt: string): Date =>
  new Date(Date.parse(deletedAt) + GRACE_DAYS * 24 * 3600 * 1000);
