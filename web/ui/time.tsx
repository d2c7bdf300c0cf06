import { computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { formatExactTime, formatRelative, formatTime } from "../app/format";

/** A time such as "Jan 31, 2027, 6:00 PM", in the user's time zone. */
export const Time = ({ iso }: { iso: string }) => <time dateTime={iso}>{formatTime(iso)}</time>;

const TICK_MS = 30_000;

/** All times share one clock, because a list may show thousands of them. */
const clock = signal(Date.now());
setInterval(() => {
  clock.value = Date.now();
}, TICK_MS);

type RelativeTimeProps = {
  iso: string;
  /**
   * Whether to show future times, such as "in 3 days". Otherwise they are shown as "now", because the clocks of the
   * server and the browser may differ.
   */
  isFuture?: boolean;
};

/** A time such as "3 hours ago", with the exact time as its tooltip. */
export function RelativeTime({ iso, isFuture = false }: RelativeTimeProps) {
  const text = useMemo(() => {
    const start = Date.now();
    return computed(() => {
      const now = Math.max(start, clock.value);
      return formatRelative(iso, isFuture ? now : Math.max(now, Date.parse(iso)));
    });
  }, [iso, isFuture]);
  return (
    <time dateTime={iso} title={formatExactTime(iso)}>
      {text}
    </time>
  );
}
