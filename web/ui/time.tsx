import { formatTime } from "../app/format";

/** A time such as "Jan 31, 2027, 6:00 PM", in the user's time zone. */
export const Time = ({ iso }: { iso: string }) => <time dateTime={iso}>{formatTime(iso)}</time>;
