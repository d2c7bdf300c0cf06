import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { Button } from "../../ui/button";
import { EmailField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";
import { SignInFrame } from "./frame";

export default function ForgotPasswordPage() {
  const [isSent, setIsSent] = useState(false);
  const methods = useRead(["sign-in-methods"], (signal) => must(api.GET("/api/v1/auth/methods", { signal })));
  if (isSent)
    return (
      <SignInFrame title="Check your mail">
        <p>If the address has an account, a link to set a new password is on its way.</p>
      </SignInFrame>
    );
  return (
    <SignInFrame title="Forgot your password?">
      <ResourceView resource={methods} skeleton={null}>
        {({ email: sendsMail }) =>
          sendsMail ? (
            <Form
              onSend={async ({ email = "" }) => {
                await must(api.POST("/api/v1/auth/password/forgot", { body: { email } }));
                setIsSent(true);
              }}
            >
              {({ errors, isSending }) => (
                <>
                  <EmailField error={errors.email} />
                  <Button look="primary" type="submit" isBusy={isSending}>
                    Send a link
                  </Button>
                </>
              )}
            </Form>
          ) : (
            <p>This server does not send email. Ask an administrator for a link to set a new password.</p>
          )
        }
      </ResourceView>
      <p class="sign-in-links">
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </SignInFrame>
  );
}
