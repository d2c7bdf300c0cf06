import { useState } from "preact/hooks";
import { ApiError, sendToServer, toApiError } from "../../app/api";
import { me, toWorkspaceHeader, toWorkspaceName, workspaces } from "../../app/session";
import { Field, Form, SelectField } from "../../ui/form";
import { Facts } from "../../ui/section";
import { SignInFrame } from "../sign-in/frame";

type Step = { kind: "code" } | { kind: "review"; request: DeviceRequest } | { kind: "approved" } | { kind: "denied" };

/** Approves a device that shows a code, such as an editor panel. */
export default function DevicePage() {
  const [step, setStep] = useState<Step>({ kind: "code" });
  if (step.kind === "review") return <DeviceReview request={step.request} onDone={(kind) => setStep({ kind })} />;
  if (step.kind === "approved")
    return (
      <SignInFrame title="Connected">
        <p>You can return to your device. To disconnect it, revoke its API key.</p>
      </SignInFrame>
    );
  if (step.kind === "denied")
    return (
      <SignInFrame title="Denied">
        <p>Access was denied.</p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Connect a device">
      <Form
        submitLabel="Continue"
        onSend={async ({ user_code: code = "" }) => {
          setStep({ kind: "review", request: await postCode<DeviceRequest>("device", code.trim()) });
        }}
      >
        <Field
          label="Code"
          name="user_code"
          value={new URLSearchParams(location.search).get("user_code") ?? ""}
          autocomplete="off"
          spellcheck={false}
          maxLength={20}
          required
          isFirst
          hint="The eight letters that your device shows."
        />
      </Form>
    </SignInFrame>
  );
}

const RIGHTS: Record<string, string> = {
  read: "read your projects and recordings",
  write: "upload, change and delete your projects and recordings",
  "read write": "read, upload, change and delete your projects and recordings",
};

type DeviceReviewProps = { request: DeviceRequest; onDone(decision: "approved" | "denied"): void };

/** Shows the device that requests access, so that users do not approve somebody else's device. */
function DeviceReview({ request, onDone }: DeviceReviewProps) {
  const { user_code: userCode, client_id: name, scope, address } = request;
  const email = me.value?.email ?? "";
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
        submitLabel="Approve"
        onSend={async ({ workspace }) => {
          await postCode("device/approve", userCode, workspace);
          onDone("approved");
        }}
      >
        {workspaces.value.length > 1 && (
          <SelectField
            label="Workspace"
            name="workspace"
            options={workspaces.value.map((one) => ({ value: one.id, label: toWorkspaceName(one) }))}
          />
        )}
      </Form>
      <Form
        submitLabel="Deny"
        look="default"
        onSend={async () => {
          await postCode("device/deny", userCode);
          onDone("denied");
        }}
      />
    </SignInFrame>
  );
}

type DeviceRequest = { user_code: string; client_id: string; scope: string; address: string | null };

/** Posts the code that the device shows. Throws `ApiError` whose message applies to the code. */
async function postCode<Answer>(path: string, userCode: string, workspaceId: string | null = null): Promise<Answer> {
  const headers = toWorkspaceHeader(workspaceId);
  const body = new URLSearchParams({ user_code: userCode });
  const response = await sendToServer(new Request(`/oauth/${path}`, { method: "POST", body, headers }));
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as Answer;
  const { message, code, status } = toApiError(response, answer);
  throw new ApiError(message, code, status, { user_code: message });
}
