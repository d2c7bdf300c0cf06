/** Rate limit: one token bucket per user. */

export type RateLimitResult = { allowed: boolean; headers: Record<string, string>; retryAfterSeconds: number };
export type RateLimiter = { take(userId: string, now: number): RateLimitResult };

/** The result for requests that do not count. */
export const NO_LIMIT: RateLimitResult = { allowed: true, headers: {}, retryAfterSeconds: 0 };

const MAX_BURST_REQUESTS = 100;

/** Creates buckets of at most `MAX_BURST_REQUESTS` tokens that refill at `perMinute`; 0 disables the limit. */
export function createRateLimiter(perMinute: number): RateLimiter {
  if (perMinute === 0) return { take: () => NO_LIMIT };
  const burst = Math.min(MAX_BURST_REQUESTS, perMinute);
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, { tokens: number; at: number }>();

  function sweep(now: number): void {
    // A full bucket is equivalent to a new one.
    for (const [id, bucket] of buckets) if (bucket.tokens + (now - bucket.at) * perMs >= burst) buckets.delete(id);
  }

  return {
    take: (userId, now) => {
      if (buckets.size > 10_000) sweep(now);
      const bucket = buckets.get(userId) ?? { tokens: burst, at: now };
      bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
      bucket.at = now;
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      buckets.set(userId, bucket);
      const remaining = Math.floor(bucket.tokens);
      const resetSeconds = Math.ceil((burst - bucket.tokens) / perMs / 1000);
      return {
        allowed,
        retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)),
        headers: {
          "RateLimit-Policy": `"user";q=${perMinute};w=60`,
          RateLimit: `"user";r=${remaining};t=${resetSeconds}`,
          "RateLimit-Limit": String(perMinute),
          "RateLimit-Remaining": String(remaining),
          "RateLimit-Reset": String(resetSeconds),
        },
      };
    },
  };
}
