import { useLocation } from "preact-iso";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { formatDay } from "../../app/format";
import { loadSession } from "../../app/load-session";
import { chooseWorkspace } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Section } from "../../ui/section";
import { withArticle } from "./roles";

type Received = Schemas["ReceivedInvitation"];

/** Invitations that the user has received. Renders nothing without any. */
export function ReceivedSection() {
  const { route } = useLocation();
  const list = useOffsetList<Received>(["received-invitations"], (query, signal) =>
    must(api.GET("/api/v1/invitations", { params: { query }, signal })),
  );
  const items = list.items.value ?? [];
  if (items.length === 0) return null;
  const accept = async ({ id, workspace }: Received) => {
    const params = { path: { invitation_id: id } };
    await must(api.POST("/api/v1/invitations/{invitation_id}/accept", { params }));
    await loadSession();
    chooseWorkspace(workspace.id);
    route("/projects");
  };
  const decline = async ({ id, workspace }: Received) => {
    const params = { path: { invitation_id: id } };
    await must(api.POST("/api/v1/invitations/{invitation_id}/decline", { params }));
    showToast({ kind: "info", text: `You declined the invitation to ${workspace.name}.` });
    await list.reload();
  };
  return (
    <Section title="Invitations to you" hint="You become a member when you accept.">
      <ul class="plain-list received-invitations">
        {items.map((invitation) => {
          const { id, workspace, role, invited_by: inviter, expires_at: time } = invitation;
          return (
            <li key={id} class="received-invitation">
              <p>
                <strong dir="auto">{inviter ? (inviter.name ?? inviter.email) : "A former member"}</strong> invites you
                to <strong dir="auto">{workspace.name}</strong> as {withArticle(role)}.{" "}
                <span class="soft">Until {formatDay(time)}</span>
              </p>
              <div class="toolbar">
                <Button
                  look="primary"
                  aria-label={`Accept the invitation to ${workspace.name}`}
                  onClick={() => void accept(invitation).catch(showFailure)}
                >
                  Accept
                </Button>
                <Button
                  aria-label={`Decline the invitation to ${workspace.name}`}
                  onClick={() => void decline(invitation).catch(showFailure)}
                >
                  Decline
                </Button>
              </div>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
