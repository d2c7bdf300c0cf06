/** The other people who have the cut open: "Bruno is editing". */

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { api } from "../../app/api";
import { toList } from "../../app/english";
import { listenLive } from "../../app/live";
import { canWrite, currentWorkspaceId, me, toWorkspaceHeader } from "../../app/session";
import { AvatarMark } from "../../ui/avatar";
import { useEditor } from "../state/context";

export function People() {
  const { cut } = useEditor();
  const others = usePresence(cut?.state === "completed" ? cut.id : null).value;
  if (others.length === 0) return null;
  const names = others.map(({ name }) => name ?? "Somebody else");
  const text = `${toList(names)} ${names.length === 1 ? "is" : "are"} editing`;
  return (
    <span class="people" title={text}>
      {others.map((person) => (
        <AvatarMark key={person.id} person={person} />
      ))}
      <span class="people-text">{text}</span>
    </span>
  );
}

type Person = { id: string; name: string | null };

const REPEAT_MS = 10_000;

/** Reports that this user has the cut open, and returns the others. */
function usePresence(cutId: string | null): ReadonlySignal<readonly Person[]> {
  const others = useMemo(() => signal<readonly Person[]>([]), [cutId]);
  useEffect(() => {
    if (cutId === null) return;
    const show = (users: readonly Person[]) => {
      others.value = users.filter(({ id }) => id !== me.peek()?.id);
    };
    const stop = listenLive(["presence"], ({ entityId, users }) => {
      if (entityId === cutId && users !== undefined) show(users);
    });
    if (!canWrite.peek()) return stop;
    const params = { path: { cut_id: cutId } };
    const report = async () => {
      // Without an answer, the others stay for a while.
      const answer = await api.PUT("/api/v1/cuts/{cut_id}/presence", { params }).catch(() => null);
      if (answer?.data !== undefined) show(answer.data.users);
      else if (answer !== null) clearInterval(timer);
    };
    const leave = () => {
      if (me.peek() === null) return;
      const headers = toWorkspaceHeader(currentWorkspaceId());
      void fetch(`/api/v1/cuts/${cutId}/presence`, { method: "DELETE", keepalive: true, headers }).catch(() => {});
    };
    const timer = setInterval(() => void report(), REPEAT_MS);
    void report();
    addEventListener("pagehide", leave);
    return () => {
      stop();
      clearInterval(timer);
      // No DELETE when another cut is opened: this one may have been deleted, and the entry expires after 30 seconds.
      removeEventListener("pagehide", leave);
    };
  }, [cutId, others]);
  return others;
}
