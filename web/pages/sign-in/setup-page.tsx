import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { Button } from "../../ui/button";
import { EmailField, NewPasswordField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";
import { finishSignIn, takeToken } from "./finish";
import { SignInFrame } from "./frame";

/** Creates the first administrator on the first start. */
export default function SetupPage() {
  const { route } = useLocation();
  const [token] = useState(takeToken);
  const methods = useRead(["sign-in-methods"], (signal) => must(api.GET("/api/v1/auth/methods", { signal })));
  return (
    <SignInFrame title="Set up Offcut">
      <ResourceView resource={methods} skeleton={null}>
        {({ is_set_up: isSetUp }) => {
          if (isSetUp)
            return (
              <p>
                This server has an administrator. <a href="/sign-in">Sign in</a>
              </p>
            );
          if (token === "")
            return (
              <p>
                Open the link that <code>offcut setup-url</code> prints on the server.
              </p>
            );
          return (
            <Form
              onSend={async ({ email = "", password = "" }) => {
                await must(api.POST("/api/v1/auth/setup", { body: { token, email, password } }));
                await finishSignIn(route);
              }}
            >
              {({ errors, isSending }) => (
                <>
                  <p>Create the first account. It is an administrator.</p>
                  <EmailField error={errors.email} />
                  <NewPasswordField error={errors.password} />
                  <Button look="primary" type="submit" isBusy={isSending}>
                    Create the account
                  </Button>
                </>
              )}
            </Form>
          );
        }}
      </ResourceView>
    </SignInFrame>
  );
}
