import type { Cut } from "../../editor/state/editor-state";
import { Icon } from "../../ui/icon";
import { adviseCut } from "./problem-texts";

/** Shows the state of a cut that is not completed or has failed. */
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
      <p>{cut.state === "pending" ? "In line…" : "Creating the cut…"}</p>
    </div>
  );
