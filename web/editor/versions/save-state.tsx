/** Where the edits of the open cut are. It stands by the name of the cut. */
import { connection } from "../../app/connection";
import { toClock, toDay, toMonthDay } from "../../app/english";
import { useEditor } from "../state/context";

export function SaveState() {
  const { cut, keeper, save } = useEditor();
  if (keeper === null || cut === null) return null;
  const { value: state } = keeper.state;
  if (save.isSaving || state.kind === "saving") return <>Saving…</>;
  if (state.kind === "local") {
    const isOffline = connection.value !== "online";
    return <span title={state.message}>{isOffline ? "Offline, kept in this browser" : "Kept in this browser"}</span>;
  }
  if (state.kind === "conflict") return <>Kept in this browser</>;
  if (state.kind === "saved")
    return (
      <span data-draft title="The edits are stored as a draft. Save keeps them as a version.">
        Saved {describeTime(new Date(state.at))}
      </span>
    );
  return <>Saved {describeTime(new Date(cut.created_at))}</>;
}

/** Returns "4:12 PM", before today "Nov 23". */
function describeTime(time: Date): string {
  const now = new Date();
  if (time.toDateString() === now.toDateString()) return toClock(time);
  return time.getFullYear() === now.getFullYear() ? toMonthDay(time) : toDay(time);
}
