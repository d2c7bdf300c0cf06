/** Texts for prices. */

type Interval = "month" | "year" | null;

const INTERVALS = { month: " a month", year: " a year" };

/** Returns an amount in the smallest unit of its currency: 1250 EUR are €12.50. */
export function formatAmount(amount: number, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** Returns a price with its interval: "€19.00 a month". */
export const formatPrice = (price: { amount: number; currency: string; interval: Interval }): string =>
  `${formatAmount(price.amount, price.currency)}${price.interval === null ? "" : INTERVALS[price.interval]}`;
