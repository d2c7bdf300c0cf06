import { api, must, type Schemas } from "../../app/api";
import { leftWorkspaces, me } from "../../app/session";
import { ConfirmDialog } from "../../ui/confirm-dialog";

type RemoveMemberProps = {
  workspace: Schemas["WorkspaceDetail"];
  member: Schemas["WorkspaceMember"];
  onRemoved(): Promise<void>;
  onLeft(): Promise<void>;
  onClose(): void;
};

/** Removes a member, or leaves the workspace, after a warning about what will be lost. */
export function RemoveMemberDialog({ workspace, member, onRemoved, onLeft, onClose }: RemoveMemberProps) {
  const isMe = member.user_id === me.value?.id;
  const params = { path: { workspace_id: workspace.id, user_id: member.user_id } };
  return (
    <ConfirmDialog
      title={isMe ? "Leave this workspace?" : "Remove this member?"}
      confirmLabel={isMe ? "Leave" : "Remove"}
      onConfirm={async () => {
        if (isMe) leftWorkspaces.add(workspace.id);
        const call = api.DELETE("/api/v1/workspaces/{workspace_id}/members/{user_id}", { params });
        await must(call).catch((error: unknown) => {
          leftWorkspaces.delete(workspace.id);
          throw error;
        });
        await (isMe ? onLeft() : onRemoved());
      }}
      onClose={onClose}
    >
      {isMe ? (
        <p>
          You lose access to everything in <strong dir="auto">{workspace.name}</strong>. What you have added stays in
          it. Your API keys for it are revoked, and only an owner can add you again.
        </p>
      ) : (
        <p>
          <strong dir="auto">{member.name ?? member.email}</strong> loses access to everything in{" "}
          <strong dir="auto">{workspace.name}</strong> immediately. Their API keys for it and the invitations that they
          sent are revoked. What they have added stays.
        </p>
      )}
    </ConfirmDialog>
  );
}
