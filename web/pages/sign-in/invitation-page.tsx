import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { Button } from "../../ui/button";
import { NewPasswordField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { finishSignIn, takeToken } from "./finish";
import { SignInFrame } from "./frame";
import { INCOMPLETE_LINK } from "./texts";

export default function InvitationPage() {
  const { route } = useLocation();
  const [token] = useState(takeToken);
  if (token === "")
    return (
      <SignInFrame title="Invitation">
        <p>{INCOMPLETE_LINK}</p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Welcome to Offcut">
      <p>Choose a password for your account.</p>
      <Form
        onSend={async ({ password = "" }) => {
          await must(api.POST("/api/v1/auth/invitation", { body: { token, password } }));
          await finishSignIn(route);
        }}
      >
        {({ errors, isSending }) => (
          <>
            <NewPasswordField isFirst error={errors.password} />
            <Button look="primary" type="submit" isBusy={isSending}>
              Create the account
            </Button>
          </>
        )}
      </Form>
    </SignInFrame>
  );
}
