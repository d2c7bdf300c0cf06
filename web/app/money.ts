/** Formats prices. */
import { getLanguage } from "./english";

type Price = {
  amount: number;
  currency: string;
  interval: "month" | "year" | null;
  provider: "offline" | "stripe";
};

/** Offline orders cover one period; only the payment provider renews a subscription. */
const PERIODS = {
  offline: { month: " for one month", year: " for one year" },
  stripe: { month: " a month", year: " a year" },
};

/**
 * Formats an amount given in the smallest unit of its currency: 1250 EUR become €12.50, or 12,50 € in the browser's
 * language.
 */
export function formatAmount(amount: number, currency: string, language = getLanguage()): string {
  const format = new Intl.NumberFormat(language, { style: "currency", currency, numberingSystem: "latn" });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** Returns a price with its period: "€19.00 a month", or "€19.00 for one month" if it does not renew. */
export const formatPrice = ({ amount, currency, interval, provider }: Price): string =>
  `${formatAmount(amount, currency)}${interval === null ? "" : PERIODS[provider][interval]}`;
