/** The envelope of a recording's audio, which is read when it comes into view. */

import { useRef } from "preact/hooks";
import { findGain, toHeight } from "../../../src/domain/peaks";
import { mediaUrl } from "../../app/api";
import { useRead } from "../../app/cache";
import { fetchFile } from "../../app/fetch-file";
import { Icon } from "../../ui/icon";
import { useSeen } from "./use-seen";

const POINTS = 110;

export function Envelope({ id }: { id: string }) {
  const place = useRef<HTMLSpanElement>(null);
  const isSeen = useSeen(place, false);
  return (
    <span ref={place} class="envelope-box">
      {isSeen && <EnvelopePath id={id} />}
    </span>
  );
}

function EnvelopePath({ id }: { id: string }) {
  const { value } = useRead(["envelope", id], (signal) => readEnvelope(id, signal), { lasts: "forever" }).state;
  if (value.kind === "failed") return <Icon name="audio" />;
  return value.kind === "loading" ? null : (
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      <path d={value.value} />
    </svg>
  );
}

async function readEnvelope(id: string, signal: AbortSignal): Promise<string> {
  const response = await fetchFile(mediaUrl(id, "envelope", { points: String(POINTS) }), signal);
  return drawEnvelope(await response.bytes());
}

/** Returns the peaks of an envelope as the bars of an SVG path, in a box of 100 by 100. */
export function drawEnvelope(peaks: Uint8Array): string {
  const step = 100 / peaks.length;
  const width = (step * 0.72).toFixed(2);
  const gain = findGain(peaks);
  let path = "";
  peaks.forEach((peak, at) => {
    // Silence has a line.
    const half = Math.max(0.8, toHeight(peak, gain) * 46);
    path += `M${(at * step).toFixed(2)} ${(50 - half).toFixed(1)}h${width}v${(2 * half).toFixed(1)}h-${width}z`;
  });
  return path;
}
