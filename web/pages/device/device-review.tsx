import { session, toWorkspaceName, workspaces } from "../../app/session";
import { Button } from "../../ui/button";
import { Facts } from "../../ui/facts";
import { SelectField } from "../../ui/field";
import { Form } from "../../ui/form";
import { SignInFrame } from "../sign-in/frame";
import { type DeviceRequest, postCode } from "./oauth";

const RIGHTS: Record<string, string> = {
  read: "read your projects and recordings",
  write: "upload, change and delete your projects and recordings",
  "read write": "read, upload, change and delete your projects and recordings",
};

type DeviceReviewProps = { request: DeviceRequest; onDone(decision: "approved" | "denied"): void };

/** Shows which device asks for access, so that nobody approves somebody else's device. */
export function DeviceReview({ request, onDone }: DeviceReviewProps) {
  const { user_code: userCode, client_id: name, scope, address } = request;
  const email = session.value.kind === "signed-in" ? session.value.me.email : "";
  return (
    <SignInFrame title="Connect this device?">
      <p>Approve only if you have just started this on your own device, and it shows the same code.</p>
      <Facts
        facts={[
          ["Device", name],
          ["Code", userCode],
          ["It may", RIGHTS[scope] ?? scope],
          ["Account", email],
          ["Address of the device", address ?? "unknown"],
        ]}
      />
      <Form
        onSend={async ({ workspace }) => {
          await postCode("device/approve", userCode, workspace);
          onDone("approved");
        }}
      >
        {({ isSending }) => (
          <>
            {workspaces.value.length > 1 && (
              <SelectField
                label="Workspace"
                name="workspace"
                options={workspaces.value.map((one) => ({ value: one.id, label: toWorkspaceName(one) }))}
              />
            )}
            <Button look="primary" type="submit" isBusy={isSending}>
              Approve
            </Button>
          </>
        )}
      </Form>
      <Form
        onSend={async () => {
          await postCode("device/deny", userCode);
          onDone("denied");
        }}
      >
        {({ isSending }) => (
          <Button type="submit" isBusy={isSending}>
            Deny
          </Button>
        )}
      </Form>
    </SignInFrame>
  );
}
