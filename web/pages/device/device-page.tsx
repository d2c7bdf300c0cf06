import { useState } from "preact/hooks";
import { Button } from "../../ui/button";
import { Field } from "../../ui/field";
import { Form } from "../../ui/form";
import { SignInFrame } from "../sign-in/frame";
import { DeviceReview } from "./device-review";
import { type DeviceRequest, postCode } from "./oauth";

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
        <p>Access was denied to the device.</p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Connect a device">
      <Form
        onSend={async ({ user_code: code = "" }) => {
          setStep({ kind: "review", request: await postCode<DeviceRequest>("device", code.trim()) });
        }}
      >
        {({ errors, isSending }) => (
          <>
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
              error={errors.user_code}
            />
            <Button look="primary" type="submit" isBusy={isSending}>
              Continue
            </Button>
          </>
        )}
      </Form>
    </SignInFrame>
  );
}
