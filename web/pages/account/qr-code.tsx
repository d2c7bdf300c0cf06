import { useMemo } from "preact/hooks";
import { encode } from "uqr";

/** Width of the empty border around the code, in modules. */
const QUIET_ZONE = 4;

/** A QR code. It is drawn in the browser, so its content is not sent anywhere. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => draw(text), [text]);
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} class="qr-ground" />
      <path d={path} class="qr-modules" shape-rendering="crispEdges" />
    </svg>
  );
}

/** Draws each row as runs of dark modules. */
function draw(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const path = data
    .flatMap((row, y) =>
      row.map((isDark, x) => (isDark && !row[x - 1] ? `M${x} ${y}h${runLength(row, x)}v1H${x}z` : "")),
    )
    .join("");
  return { size, path };
}

function runLength(row: boolean[], start: number): number {
  const end = row.indexOf(false, start);
  return (end === -1 ? row.length : end) - start;
}
