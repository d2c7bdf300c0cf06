const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MAX_YEAR = 9999;

/**
 * Returns the start of the day `daysLater` days after a day such as `2027-01-31`, in the user's time zone. Returns ""
 * for a day that does not exist or is after the year 9999. Days on which clocks change have 23 or 25 hours. Pure.
 */
export function toDayStart(day: string, daysLater: number): string {
  if (!DAY.test(day)) return "";
  const [year = Number.NaN, month = Number.NaN, date = Number.NaN] = day.split("-").map(Number);
  const isInCalendar = new Date(year, month - 1, date).getDate() === date && month >= 1 && month <= 12;
  const start = new Date(year, month - 1, date + daysLater);
  return isInCalendar && start.getUTCFullYear() <= MAX_YEAR ? start.toISOString() : "";
}
