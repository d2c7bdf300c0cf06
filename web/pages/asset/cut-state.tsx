import { Icon } from "../../ui/icon";
import type { Cut } from "./editor-state";
import { adviseCut } from "./problem-texts";

/** A message while a cut is not complete, or when it failed. */
export const CutState = ({ cut }: { cut: Cut }) =>
  cut.state === "failed" ? (
    <div class="message bad" role="alert">
      <Icon name="warning" />
      <p>
        <strong>{cut.error_message ?? "The cut could not be created."}</strong> {adviseCut(cut.error_code)}
      </p>
    </div>
  ) : (
    <div class="message" role="status">
      <Icon name="cut" />
      <p>{cut.state === "pending" ? "The cut waits for its turn…" : "Making the cut…"}</p>
    </div>
  );
