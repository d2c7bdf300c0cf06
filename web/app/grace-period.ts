/** Number of days for which a deleted account can be restored. */
const GRACE_DAYS = 30;

/** Returns the time at which an account deleted at `deletedAt` is purged. */
export const findPurgeTime = (deletedAt: string): Date =>
  new Date(Date.parse(deletedAt) + GRACE_DAYS * 24 * 3600 * 1000);
