import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import type { DraftKeeper } from "./draft-keeper";

/** Asks which edits to keep when another tab or person has changed the draft. */
export function DraftConflict({ keeper }: { keeper: DraftKeeper }) {
  const state = keeper.state.value;
  if (state.kind !== "conflict") return null;
  return (
    <div class="message warning" role="alert">
      <Icon name="warning" />
      <p>
        <strong>This cut was edited in another tab or by another person.</strong> Your edits are kept in this browser.
        Continue with theirs, or replace them with yours?
      </p>
      <span class="message-actions studio-actions">
        <Button onClick={keeper.useOther}>Use theirs</Button>
        <Button onClick={keeper.useMine}>Keep mine</Button>
      </span>
    </div>
  );
}
