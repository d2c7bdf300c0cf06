import type { Plan } from "../../editor/state/editor-state";
import { Icon } from "../../ui/icon";

/** Lists script lines that were not found, and warnings from planning. */
export function NotesPanel({ plan }: { plan: Plan }) {
  const { missing, warnings } = plan;
  if (missing.length === 0 && warnings.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="notes-title">
      <h2 id="notes-title">Notes on this cut</h2>
      {missing.length > 0 && (
        <div class="message warning">
          <Icon name="warning" />
          <div>
            <p>
              {missing.length === 1
                ? "A line of the script is not in the recording:"
                : `${missing.length} lines of the script are not in the recording:`}
            </p>
            <ul class="note-list">
              {missing.map((line, index) => (
                <li key={`${index} ${line}`} dir="auto">
                  {line}
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="message warning">
          <Icon name="warning" />
          {warning}
        </p>
      ))}
    </section>
  );
}
