import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { Button } from "../../ui/button";
import { EmailField, NewPasswordField } from "../../ui/credential-fields";
import { SelectField } from "../../ui/field";
import { Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";
import { finishSignIn, SignInFrame, takeToken } from "./frame";

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
              onSend={async ({ email = "", password = "", billing }) => {
                const mode = billing === "on" || billing === "off" ? billing : undefined;
                await must(api.POST("/api/v1/auth/setup", { body: { token, email, password, billing: mode } }));
                await finishSignIn(route);
              }}
            >
              {({ errors, isSending }) => (
                <>
                  <p>Create the first account. It is an administrator.</p>
                  <EmailField error={errors.email} />
                  <NewPasswordField error={errors.password} />
                  <BillingField />
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

const MODES = [
  { value: "on", label: "Yes, with credits" },
  { value: "off", label: "No, and nothing shows credits" },
];

/** Asks whether people pay for their work, unless the configuration says it. */
function BillingField() {
  const billing = useRead(["billing"], (signal) => must(api.GET("/api/v1/billing", { signal })));
  const state = billing.state.value;
  if (state.kind !== "ready" || state.value.is_configured) return null;
  return <SelectField label="Do recordings and renders cost something?" name="billing" options={MODES} />;
}
