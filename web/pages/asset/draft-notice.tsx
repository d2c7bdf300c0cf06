import { useState } from "preact/hooks";
import { formatCount } from "../../app/format";
import { me } from "../../app/session";
import { comparePlans } from "../../editor/model/compare";
import { fromDraft } from "../../editor/model/draft";
import { useEditor } from "../../editor/state/context";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { RelativeTime } from "../../ui/time";
import type { DraftKeeper } from "./draft-keeper";
import type { Draft } from "./draft-server";

/** Returns "Bruno Meier", "You" for another tab, or "Somebody else". */
function nameAuthor({ updated_by }: Draft): string {
  if (updated_by === undefined || updated_by?.id === me.value?.id) return "You";
  return updated_by?.name ?? "Somebody else";
}

/** Asks which edits to keep when another tab or person has changed the draft. */
export function DraftConflict({ keeper }: { keeper: DraftKeeper }) {
  const { editor, differences } = useEditor();
  const [isShown, setIsShown] = useState(false);
  const state = keeper.state.value;
  if (state.kind !== "conflict") return null;
  const { other } = state;
  const { plan } = fromDraft(editor.stored.plan, other);
  const changes = comparePlans(editor.latePlan.value, plan).length + other.texts.length;
  const show = (isOn: boolean) => {
    setIsShown(isOn);
    differences.value = isOn ? comparePlans(editor.plan.value, plan) : [];
  };
  const end = (choose: () => void) => {
    show(false);
    choose();
  };
  return (
    <div class="message warning" role="alert">
      <Icon name="warning" />
      <p>
        {nameAuthor(other)} edited this cut{" "}
        {other.updated_at === undefined ? "in another tab" : <RelativeTime iso={other.updated_at} />} (
        {formatCount(changes, "change")}).
      </p>
      <span class="message-actions studio-actions">
        <Button aria-pressed={isShown} onClick={() => show(!isShown)}>
          Show both
        </Button>
        <Button onClick={() => end(keeper.useMine)}>Keep mine</Button>
        <Button onClick={() => end(keeper.useOther)}>Take theirs</Button>
      </span>
    </div>
  );
}
