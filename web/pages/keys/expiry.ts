/** Expiration times of API keys. */
export const EXPIRY_CHOICES = [
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
  { value: "date", label: "On a date…" },
  { value: "never", label: "Never" },
];

export const DEFAULT_EXPIRY = "90";

const DAY_MS = 24 * 3600 * 1000;

/**
 * Returns the time of a choice as ISO 8601, or null for never. A `date` such as `2027-01-31` stands for the end of that
 * day in the user's time zone.
 */
export function toExpiryTime(choice: string, date: string, now: number): string | null {
  if (choice === "never") return null;
  const time = choice === "date" ? new Date(`${date}T23:59:59`) : new Date(now + Number(choice) * DAY_MS);
  return time.toISOString();
}

/** Returns the value of a date field for a time, in the user's time zone. */
export function toDateValue(time: Date): string {
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
