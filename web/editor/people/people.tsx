/** The other people who have the cut open: "Bruno is editing". */
import { toList } from "../../app/english";
import { useEditor } from "../state/context";
import { usePresence } from "./presence";

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((part) => [...part][0] ?? "")
    .slice(0, 2)
    .join("")
    .toUpperCase();

export function People() {
  const { cut } = useEditor();
  const others = usePresence(cut?.state === "completed" ? cut.id : null).value;
  if (others.length === 0) return null;
  const names = others.map(({ name }) => name ?? "Somebody else");
  const text = `${toList(names)} ${names.length === 1 ? "is" : "are"} editing`;
  return (
    <span class="people" title={text}>
      {others.map(({ id }, index) => (
        <span key={id} class="person" aria-hidden="true">
          {initialsOf(names[index]!)}
        </span>
      ))}
      <span class="people-text">{text}</span>
    </span>
  );
}
