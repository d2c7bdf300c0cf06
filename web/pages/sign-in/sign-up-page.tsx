import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { Button } from "../../ui/button";
import { EmailField, NewPasswordField } from "../../ui/credential-fields";
import { Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";
import { finishSignIn, SignInFrame } from "./frame";

export default function SignUpPage() {
  const { route } = useLocation();
  const methods = useRead(["sign-in-methods"], (signal) => must(api.GET("/api/v1/auth/methods", { signal })));
  return (
    <SignInFrame title="Create an account">
      <ResourceView resource={methods} skeleton={null}>
        {({ signup }) =>
          signup === "open" ? (
            <Form
              onSend={async ({ email = "", password = "" }) => {
                await must(api.POST("/api/v1/auth/signup", { body: { email, password } }));
                await finishSignIn(route);
              }}
            >
              {({ errors, isSending }) => (
                <>
                  <EmailField error={errors.email} />
                  <NewPasswordField error={errors.password} />
                  <Button look="primary" type="submit" isBusy={isSending}>
                    Create the account
                  </Button>
                </>
              )}
            </Form>
          ) : (
            <p>Sign-up is closed on this server. Ask an administrator for an invitation.</p>
          )
        }
      </ResourceView>
      <p class="sign-in-links">
        <a href={`/sign-in${location.search}`}>Sign in instead</a>
      </p>
    </SignInFrame>
  );
}
