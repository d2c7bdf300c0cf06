/** The pages that create an account: sign-up, the first start, and invitations. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MAX_PERSON_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { loadSession } from "../../app/load-session";
import { chooseWorkspace, me, session } from "../../app/session";
import { useSignInMethods } from "../../app/shared-reads";
import { Button } from "../../ui/button";
import { EmailField, NewPasswordField } from "../../ui/credential-fields";
import { Field, Form, SelectField } from "../../ui/form";
import { ResourceView } from "../../ui/states";
import { withArticle } from "../workspaces/roles";
import { finishSignIn, INCOMPLETE_LINK, SignInFrame, takeToken } from "./frame";

const NameField = ({ isFirst = false }: { isFirst?: boolean }) => (
  <Field
    label="Your name"
    name="name"
    autocomplete="name"
    maxLength={MAX_PERSON_NAME_CHARACTERS}
    spellcheck={false}
    hint="Optional. Other members see it next to your work."
    isFirst={isFirst}
  />
);

/** Saves the name of a new account: its first word is the first name. The account also works without it. */
async function saveName(name = ""): Promise<void> {
  const [first = "", ...last] = name.trim().split(/\s+/);
  const body = { first_name: first, last_name: last.join(" ") };
  if (first !== "") await api.PATCH("/api/v1/users/me", { body }).catch(() => {});
}

function SignUpPage() {
  const { route } = useLocation();
  const methods = useSignInMethods();
  return (
    <SignInFrame title="Create an account">
      <ResourceView resource={methods} skeleton={null}>
        {({ signup }) =>
          signup === "open" ? (
            <Form
              submitLabel="Create the account"
              onSend={async ({ email = "", name, password = "" }) => {
                await must(api.POST("/api/v1/auth/signup", { body: { email, password } }));
                await saveName(name);
                await finishSignIn(route);
              }}
            >
              <EmailField />
              <NameField />
              <NewPasswordField />
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

/** Creates the first administrator on the first start. */
function SetupPage() {
  const [token] = useState(takeToken);
  const methods = useSignInMethods();
  return (
    <SignInFrame title="Set up Offcut">
      <ResourceView resource={methods} skeleton={null}>
        {({ is_set_up: isSetUp }) => {
          if (isSetUp)
            return (
              <p>
                This server is already set up. <a href="/sign-in">Sign in</a>
              </p>
            );
          if (token === "")
            return (
              <p>
                Open the link that <code>offcut setup-url</code> prints on the server.
              </p>
            );
          return <SetupForm token={token} />;
        }}
      </ResourceView>
    </SignInFrame>
  );
}

/** The form cannot be sent before its last question is loaded. */
function SetupForm({ token }: { token: string }) {
  const { route } = useLocation();
  const billing = useRead(["billing"], (signal) => must(api.GET("/api/v1/billing", { signal })));
  return (
    <ResourceView resource={billing} skeleton={null}>
      {({ is_configured: isConfigured }) => (
        <Form
          submitLabel="Create the account"
          onSend={async ({ email = "", name, password = "", billing }) => {
            const mode = billing === "on" || billing === "off" ? billing : undefined;
            await must(api.POST("/api/v1/auth/setup", { body: { token, email, password, billing: mode } }));
            await saveName(name);
            await finishSignIn(route);
          }}
        >
          <p>Create the first account. It is an administrator.</p>
          <EmailField />
          <NameField />
          <NewPasswordField />
          {!isConfigured && <SelectField label="Charge for recordings and renders?" name="billing" options={MODES} />}
        </Form>
      )}
    </ResourceView>
  );
}

/** Answers to the question whether users pay for their work. It is asked once, unless the configuration decides. */
const MODES = [
  { value: "on", label: "Yes, with credits" },
  { value: "off", label: "No, hide credits everywhere" },
];

type Invitation = Schemas["InvitationLink"];

/** Keeps the token while a user with an account signs in, because the page's address no longer contains it. */
let waitingToken = "";

/** Shows the sender and the workspace of an invitation, to users with and without an account. */
function InvitationPage() {
  const [token] = useState(() => takeToken() || waitingToken);
  if (token === "")
    return (
      <SignInFrame title="Invitation">
        <p>{INCOMPLETE_LINK}</p>
      </SignInFrame>
    );
  return <Readable token={token} />;
}

function Readable({ token }: { token: string }) {
  const invitation = useRead(["invitation", token], (signal) =>
    must(api.POST("/api/v1/invitations/read", { body: { token }, signal })),
  );
  const isReadable = invitation.state.value.kind === "ready";
  useEffect(() => {
    if (isReadable && session.value.kind === "unknown") void loadSession();
  }, [isReadable]);
  return (
    <SignInFrame title="Welcome to Offcut">
      <ResourceView resource={invitation} skeleton={null}>
        {(found) => (
          <>
            <Content invitation={found} />
            {found.workspace !== null && me.value?.email === found.email ? (
              <AcceptForm token={token} />
            ) : (
              <AccountForm token={token} invitation={found} />
            )}
          </>
        )}
      </ResourceView>
      {invitation.state.value.kind === "failed" && (
        <p class="sign-in-links">
          <a href="/sign-in">Go to sign-in</a>
        </p>
      )}
    </SignInFrame>
  );
}

function Content({ invitation: { email, workspace, role, invited_by: inviter } }: { invitation: Invitation }) {
  const who = inviter === null ? "An administrator" : (inviter.name ?? inviter.email);
  return (
    <p>
      <strong dir="auto">{who}</strong> invites <strong>{email}</strong>{" "}
      {workspace === null ? (
        "to Offcut."
      ) : (
        <>
          to the workspace <strong dir="auto">{workspace.name}</strong>
          {role !== null && ` as ${withArticle(role)}`}.
        </>
      )}
    </p>
  );
}

/** Shown to a signed-in user with the invited address. */
function AcceptForm({ token }: { token: string }) {
  const { route } = useLocation();
  return (
    <Form
      submitLabel="Accept the invitation"
      onSend={async () => {
        const { id } = await must(api.POST("/api/v1/invitations/accept", { body: { token } }));
        waitingToken = "";
        await loadSession();
        chooseWorkspace(id);
        route("/projects", true);
      }}
    />
  );
}

/** Creates an account for the invited address. Users who have one sign in and return. */
function AccountForm({ token, invitation }: { token: string; invitation: Invitation }) {
  const { route } = useLocation();
  const signIn = () => {
    waitingToken = token;
    route("/sign-in?redirect=/invitation");
  };
  return (
    <>
      {me.value !== null && <p class="soft">You are signed in as {me.value.email}.</p>}
      <Form
        submitLabel="Create the account"
        onSend={async ({ name, password = "" }) => {
          await must(api.POST("/api/v1/auth/invitation", { body: { token, password } }));
          await saveName(name);
          if (invitation.workspace !== null) chooseWorkspace(invitation.workspace.id);
          await finishSignIn(route);
        }}
      >
        <NameField isFirst />
        <NewPasswordField />
      </Form>
      {invitation.workspace !== null && (
        <p class="sign-in-links">
          <Button look="quiet" onClick={signIn}>
            I have an account
          </Button>
        </p>
      )}
    </>
  );
}

export const PAGES = {
  "/sign-up": SignUpPage,
  "/setup": SetupPage,
  "/invitation": InvitationPage,
};
