import { formatExactTime } from "../../../app/format";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { Facts } from "../../../ui/facts";
import { formatDetails } from "./audit-details";
import { ACTION_TEXTS, type AuditEntry, nameActor, nameKind, nameTarget } from "./audit-texts";

type AuditDialogProps = {
  entry: AuditEntry;
  onFilter(filters: { actor_id?: string; target_id?: string }): void;
  onClose(): void;
};

/** Shows everything that an entry recorded. */
export function AuditDialog({ entry, onFilter, onClose }: AuditDialogProps) {
  const { actor, target } = entry;
  const show = (filters: { actor_id?: string; target_id?: string }) => {
    onClose();
    onFilter(filters);
  };
  return (
    <Dialog title={ACTION_TEXTS[entry.action] ?? entry.action} isWide onClose={onClose}>
      <div class="dialog-body">
        <Facts facts={listFacts(entry)} />
      </div>
      <div class="dialog-foot">
        {actor.id !== null && (
          <Button onClick={() => show({ actor_id: actor.id!, target_id: "" })}>Everything by this user</Button>
        )}
        {target !== null && (
          <Button onClick={() => show({ actor_id: "", target_id: target.id })}>
            Everything about this {nameKind(target.kind)}
          </Button>
        )}
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function listFacts(entry: AuditEntry): [string, string][] {
  const { actor, target } = entry;
  const facts: [string, string | null][] = [
    ["Time", formatExactTime(entry.created_at)],
    ["By", nameActor(entry)],
    ["User ID", actor.id],
    ["Address", entry.address],
    ["Session or key", actor.credential_id],
    ["About", target === null ? null : nameTarget(entry)],
    ["Target ID", target?.id ?? null],
    ["Workspace", entry.workspace_id],
    ["Details", formatDetails(entry) || null],
    ["User ID in the details", entry.named_user?.id ?? null],
    ["Request ID", entry.request_id],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}
