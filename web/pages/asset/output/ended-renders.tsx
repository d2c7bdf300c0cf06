import { useEffect, useRef, useState } from "preact/hooks";
import { isOpenRender, type ListedRender, type Renders } from "./use-renders";

const ENDS: Record<string, string> = {
  completed: "is ready to download",
  failed: "failed",
  cancelled: "was cancelled",
};

/** Announces renders that have ended while the page is open. */
export function EndedRenders({ renders }: { renders: Renders }) {
  const open = useRef<ReadonlySet<string>>(new Set());
  const [text, setText] = useState("");
  const items = renders.items.value;
  useEffect(() => {
    if (items === null) return;
    const ended = items.filter((render) => open.current.has(render.id) && !isOpenRender(render));
    open.current = new Set(items.filter(isOpenRender).map(({ id }) => id));
    if (ended.length > 0) setText(ended.map(describeEnd).join(" "));
  }, [items]);
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  );
}

const describeEnd = ({ output, state, warnings }: ListedRender): string =>
  [`The ${output.format.toUpperCase()} file ${ENDS[state] ?? state}.`, ...warnings].join(" ");
