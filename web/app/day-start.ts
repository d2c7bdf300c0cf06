/**
 * Returns the time at which a day such as `2027-01-31` begins in the user's time zone, `daysLater` days on; "" for a day that the calendar does not
 * have. Days on which clocks are changed have 23 or 25 hours. Pure.
 */
export function toDayStart(day: string, daysLater: number): string {
  const [year, month, date] = day.split("-").map(Number);
  const start = new Date(year ?? Number.NaN, (month ?? Number.NaN) - 1, (date ?? Number.NaN) + daysLater);
  return Number.isNaN(start.getTime()) ? "" : start.toISOString();
}
