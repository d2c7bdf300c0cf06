import { computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { formatExactTime, formatRelative } from "../app/format";

const REFRESH_MS = 30_000;

/** One clock for all: a list has thousands of times. */
const clock = signal(Date.now());
setInterval(() => {
  clock.value = Date.now();
}, REFRESH_MS);

type RelativeTimeProps = {
  iso: string;
  /** Shows times to come, such as "in 3 days". Others are at most "now", because the clocks of server and browser differ. */
  isFuture?: boolean;
};

/** A time such as "3 hours ago", with the exact one as its tooltip. */
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
