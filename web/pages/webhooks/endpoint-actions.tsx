import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { showFailure, showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { EditEndpointDialog } from "./endpoint-dialog";
import { SecretDialog } from "./secret-dialog";
import type { Endpoint } from "./webhook-texts";

type EndpointActionsProps = {
  endpoint: Endpoint;
  onChanged(): void;
  onTested(): void;
  onDeleted(): void;
  setState(state: Endpoint["state"]): void;
};

/** The actions for an endpoint. */
export function EndpointActions({ endpoint, onChanged, onTested, onDeleted, setState }: EndpointActionsProps) {
  const [open, setOpen] = useState<"edit" | "rotate" | "delete" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const params = { path: { endpoint_id: endpoint.id } };
  const isEnabled = endpoint.state === "enabled";
  const close = () => setOpen(null);
  const test = async () => {
    try {
      await must(api.POST("/api/v1/webhook-endpoints/{endpoint_id}/test", { params }));
      showToast({ kind: "info", text: "Test event queued. It appears under Deliveries." });
      onTested();
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <div class="toolbar">
      {isEnabled && <Button onClick={() => void test()}>Send test event</Button>}
      <Button onClick={() => setOpen("edit")}>Edit</Button>
      <Menu
        label="More actions"
        items={[
          { label: "Rotate secret", icon: "key", run: () => setOpen("rotate") },
          isEnabled
            ? { label: "Disable", run: () => setState("disabled") }
            : { label: "Enable", run: () => setState("enabled") },
          { label: "Delete", icon: "trash", isDangerous: true, run: () => setOpen("delete") },
        ]}
      >
        <Icon name="more" />
      </Menu>
      {open === "edit" && <EditEndpointDialog endpoint={endpoint} onChanged={onChanged} onClose={close} />}
      {open === "rotate" && (
        <ConfirmDialog
          title="Rotate the signing secret?"
          confirmLabel="Rotate secret"
          onConfirm={async () => {
            const path = "/api/v1/webhook-endpoints/{endpoint_id}/rotate-secret";
            setSecret((await must(api.POST(path, { params }))).secret);
          }}
          onClose={close}
        >
          <p>
            The endpoint gets a new secret. For 24 hours deliveries are signed with the old and the new one, so that no
            delivery is rejected while you update the receiver. After that, a receiver that still has the old secret
            rejects deliveries. A secret from an earlier rotation stops working at once.
          </p>
        </ConfirmDialog>
      )}
      {open === "delete" && <DeleteDialog endpoint={endpoint} onDeleted={onDeleted} onClose={close} />}
      {open === null && secret !== null && (
        <SecretDialog
          title="Secret rotated"
          secret={secret}
          onClose={() => {
            setSecret(null);
            // Called only now: a page that fails to load would remove the secret.
            onChanged();
          }}
        >
          <p>The old secret works for 24 more hours.</p>
        </SecretDialog>
      )}
    </div>
  );
}

type DeleteDialogProps = { endpoint: Endpoint; onDeleted(): void; onClose(): void };

const DeleteDialog = ({ endpoint, onDeleted, onClose }: DeleteDialogProps) => (
  <ConfirmDialog
    title="Delete this endpoint?"
    confirmLabel="Delete endpoint"
    onConfirm={async () => {
      const params = { path: { endpoint_id: endpoint.id } };
      await must(api.DELETE("/api/v1/webhook-endpoints/{endpoint_id}", { params }));
      showToast({ kind: "info", text: "Endpoint deleted." });
      onDeleted();
    }}
    onClose={onClose}
  >
    <p>
      <strong class="url">{endpoint.url}</strong> receives no more events. Its signing secret, delivery history and
      pending deliveries are deleted. Recordings, cuts and renders are kept. This cannot be undone. To pause the
      endpoint, disable it instead.
    </p>
  </ConfirmDialog>
);
