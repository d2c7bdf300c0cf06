import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { formatBytes, formatCount } from "../../app/format";
import { isBilled, leftWorkspaces } from "../../app/session";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { Section } from "../../ui/section";

type DeleteSectionProps = { value: Schemas["WorkspaceDetail"]; onDeleted(): Promise<void> };

/** Deletes a workspace after a warning about what will be lost. */
export function DeleteSection({ value, onDeleted }: DeleteSectionProps) {
  const [isOpen, setIsOpen] = useState(false);
  const others = value.member_count - 1;
  return (
    <Section title="Delete this workspace" hint="Everything in it is permanently deleted, for all members.">
      <div class="toolbar">
        <Button look="danger" icon="trash" onClick={() => setIsOpen(true)}>
          Delete workspace…
        </Button>
      </div>
      {isOpen && (
        <ConfirmDialog
          title="Delete this workspace?"
          confirmLabel="Delete workspace"
          onConfirm={async () => {
            const path = { workspace_id: value.id };
            leftWorkspaces.add(value.id);
            await must(api.DELETE("/api/v1/workspaces/{workspace_id}", { params: { path } })).catch(
              (error: unknown) => {
                leftWorkspaces.delete(value.id);
                throw error;
              },
            );
            await onDeleted();
          }}
          onClose={() => setIsOpen(false)}
        >
          <div class="losses">
            <p>
              <strong dir="auto">{value.name}</strong> is deleted immediately, and with it, also from the server's disk:
            </p>
            <ul>
              <li>
                {formatCount(value.project_count, "project")} with {formatCount(value.asset_count, "recording")} and{" "}
                {formatCount(value.render_count, "render")}: {formatBytes(value.storage_used_bytes)}
              </li>
              {isBilled.value && (
                <li>{formatCount(Math.max(0, value.credits_balance + value.credits_held), "credit")}, not refunded</li>
              )}
              <li>its API keys, webhooks and open invitations</li>
              {others > 0 && <li>the access of {formatCount(others, "other member")}</li>}
            </ul>
            <p>Running jobs are cancelled. This cannot be undone.</p>
          </div>
        </ConfirmDialog>
      )}
    </Section>
  );
}
