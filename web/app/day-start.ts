const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MAX_YEAR = 9999;

/**
 * Returns the time at which a day such as `2027-01-31` begins in the user's time zone, `daysLater` days on; "" for a day that the calendar does not
 * have, and after the year 9999. Days on which clocks are changed have 23 or 25 hours. Pure.
 */
export function toDayStart(day: string, daysLater: number): string {
  if (!DAY.test(day)) return "";
  const [year = Number.NaN, month = Number.NaN, date = Number.NaN] = day.split("-").map(Number);
  const isInCalendar = new Date(year, month - 1, date).getDate() === date && month >= 1 && month <= 12;
  const start = new Date(year, month - 1, date + daysLater);
  return isInCalendar && start.getUTCFullYear() <= MAX_YEAR ? start.toISOString() : "";
}
