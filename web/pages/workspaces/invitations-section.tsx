import { useMemo, useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { formatDay } from "../../app/format";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { type Column, DataTable } from "../../ui/data-table";
import { EmailAddress } from "../../ui/email-address";
import { RelativeTime } from "../../ui/relative-time";
import { Section } from "../../ui/section";
import { toRoleName } from "./roles";

type Invitation = Schemas["WorkspaceInvitation"];

/** Pending invitations. */
export function InvitationsSection({ workspaceId }: { workspaceId: string }) {
  const [revoked, setRevoked] = useState<Invitation | null>(null);
  const list = useOffsetList<Invitation>(["invitations", workspaceId], (query, signal) => {
    const params = { path: { workspace_id: workspaceId }, query };
    return must(api.GET("/api/v1/workspaces/{workspace_id}/invitations", { params, signal }));
  });
  const columns = useMemo(() => createColumns(setRevoked), []);
  return (
    <Section title="Invitations" hint="Links that have not been used yet. For a new link, add the same address again.">
      <div>
        <DataTable
          caption="Invitations"
          columns={columns}
          list={list}
          rowKey={({ id }) => id}
          empty={<p class="soft">No pending invitations.</p>}
        />
      </div>
      {revoked && (
        <ConfirmDialog
          title="Revoke this invitation?"
          confirmLabel="Revoke"
          onConfirm={async () => {
            const params = { path: { workspace_id: workspaceId, invitation_id: revoked.id } };
            const call = api.DELETE("/api/v1/workspaces/{workspace_id}/invitations/{invitation_id}", { params });
            await must(call);
            showToast({ kind: "info", text: `The invitation of ${revoked.email} was revoked.` });
            await list.reload();
          }}
          onClose={() => setRevoked(null)}
        >
          <p>
            The link that was sent to <strong>{revoked.email}</strong> stops working.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

const createColumns = (onRevoke: (invitation: Invitation) => void): Column<Invitation>[] => [
  {
    title: "Email",
    width: "minmax(0, 2fr)",
    cell: ({ email }) => (
      <span class="name-cell">
        <span class="truncate" title={email}>
          <EmailAddress address={email} />
        </span>
      </span>
    ),
  },
  { title: "Role", cell: ({ role }) => toRoleName(role) },
  {
    title: "Expires",
    cell: ({ expires_at: time }) => formatDay(time),
  },
  { title: "Sent", cell: ({ created_at: time }) => <RelativeTime iso={time} /> },
  {
    title: "Actions",
    isTitleHidden: true,
    width: "6rem",
    cell: (invitation) => (
      <Button aria-label={`Revoke the invitation of ${invitation.email}`} onClick={() => onRevoke(invitation)}>
        Revoke
      </Button>
    ),
  },
];
